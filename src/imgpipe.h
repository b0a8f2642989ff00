/* imgpipe: image filter chains on the CPU and on CUDA devices, with the same bytes from both.
 *
 * This is the one public header. It needs no CUDA header (a stream is a `void *`), compiles as C11 and as
 * C++17, and declares three things: running chains (contexts, chains, files, images and rows in memory), asking what
 * there is (filters, file formats, devices), and the descriptor by which a filter is added.
 *
 * Conventions. Functions that can fail return an `imgpipe_status` and fill the caller's `imgpipe_error` (which
 * may be NULL). Structs whose first member is `struct_size` must have it set by the caller, best by the
 * `_default()` function of the struct; where there is none (imgpipe_histogram, and what a filter says of itself), it is sizeof the
 * struct. Nothing here prints, exits, or keeps state outside the objects. */
#ifndef IMGPIPE_H
#define IMGPIPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header, as MAJOR.MINOR.PATCH. */
#define IMGPIPE_VERSION "0.1.0"
/* Raised whenever the layout or meaning of imgpipe_filter, imgpipe_stage, imgpipe_rows, imgpipe_tile or imgpipe_plugin_info
 * changes, or that of the functions for use inside a filter. */
#define IMGPIPE_ABI 3

#if defined(__GNUC__)
/* Marks what the library exports. */
#define IMGPIPE_API __attribute__((visibility("default")))
/* Lets the compiler compare a format with its arguments, as for printf(). */
#define IMGPIPE_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define IMGPIPE_API
#define IMGPIPE_PRINTF(format_at, first_at)
#endif

/* ------------------------------------------------------------------------------------------------ errors */

/* What a function returns: 0 if it did all that it says, else the kind of trouble. */
typedef enum imgpipe_status {
    IMGPIPE_OK = 0,          /* done; the imgpipe_error was not touched */
    IMGPIPE_ERROR_ARGUMENT,  /* the caller's mistake: a chain, an option, a pointer */
    IMGPIPE_ERROR_INPUT,     /* the input is missing, broken, too large, or of a kind that is not supported */
    IMGPIPE_ERROR_OUTPUT,    /* the output cannot be written */
    IMGPIPE_ERROR_MEMORY,    /* host memory, or the budget given for it, is too small */
    IMGPIPE_ERROR_DEVICE,    /* the device is absent, lost or out of memory */
    IMGPIPE_ERROR_CANCELLED, /* the cancel callback said so */
    IMGPIPE_ERROR_INTERNAL   /* a fault of imgpipe's own */
} imgpipe_status;

/* The kind of trouble in a few words, such as "the output cannot be written", for programs that show no message; any thread. */
IMGPIPE_API const char *imgpipe_status_text(imgpipe_status status);

/* What went wrong in one call. */
typedef struct imgpipe_error {
    imgpipe_status status;  /* what the function returned */
    int place;              /* the first faulty byte of the chain's text, or -1 */
    int length;             /* how many bytes of it are faulty, or 0 */
    char message[1024];     /* one line in the form "what: why; what to do", without a newline */
    int fault;              /* OUTPUT: the errno behind it (ENOSPC: the disk is full); DEVICE: ENODEV if it is absent; or 0 */
} imgpipe_error;

/* ------------------------------------------------------------------------------------------------ pixels */

/* The type of samples. */
typedef enum imgpipe_type {
    IMGPIPE_U8 = 0,  /* 0 … 255 */
    IMGPIPE_U16 = 1, /* 0 … 65535, native byte order in memory */
    IMGPIPE_F32 = 2  /* nominally 0 … 1; any value, NaN and infinity included, is kept */
} imgpipe_type;

/* What a pixel is: interleaved samples of one type. */
typedef struct imgpipe_format {
    imgpipe_type type; /* of every sample */
    int channels;      /* samples of a pixel, 1 to 4 */
    bool alpha;        /* the last of at least two channels is straight (not premultiplied) alpha */
} imgpipe_format;

/* Size and format of an image. */
typedef struct imgpipe_info {
    int64_t width, height; /* in pixels, each at least 1 and at most 2^31 - 1 */
    imgpipe_format format; /* of every pixel */
} imgpipe_info;

/* Half-open: columns x0 … x1-1, rows y0 … y1-1. A rectangle that a filter asks for may reach outside the image. */
typedef struct imgpipe_rect {
    int64_t x0, y0; /* the first column and row */
    int64_t x1, y1; /* the column and row behind the last ones */
} imgpipe_rect;

/* The order of the samples of a pixel in memory where it is not that of the format (gray, gray and alpha, RGB, RGBA). An X is a
 * sample of the same type that means nothing: the format has three channels, the pixel in memory has four samples. X is ignored
 * where pixels are read, and set to the white level where they are written, so that who takes it for alpha sees an opaque
 * image. */
typedef enum imgpipe_order {
    IMGPIPE_ORDER_NATIVE = 0,                                                       /* as the format has it */
    IMGPIPE_ORDER_BGR,                                                              /* three channels */
    IMGPIPE_ORDER_RGBX, IMGPIPE_ORDER_BGRX, IMGPIPE_ORDER_XRGB, IMGPIPE_ORDER_XBGR, /* three channels in four samples */
    IMGPIPE_ORDER_BGRA, IMGPIPE_ORDER_ARGB, IMGPIPE_ORDER_ABGR                      /* three channels and alpha */
} imgpipe_order;

/* How the samples that a caller holds differ from what a format says of them; all zero: not at all. Chains see the format alone:
 * rows are converted on the way in and out, one by one, by integer arithmetic (u8, u16) as follows, where M is 255 or 65535.
 *
 * `white` is the value of full intensity in memory, alpha's too, for 12 bits in u16 for instance 4095: 1 ... M, or 0 for M
 * itself; for f32 it must be 0. On reading v becomes floor((v M + floor(white / 2)) / white), and a sample above `white` ends the
 * run with IMGPIPE_ERROR_INPUT; on writing v becomes floor((v white + floor(M / 2)) / M). What is read and written comes back the
 * same.
 *
 * `premultiplied` says that colours in memory are multiplied by alpha; the format must have alpha. On reading, before white is
 * looked at, with W = white or M: c becomes min(W, floor((c W + floor(a / 2)) / a)), and 0 where a is 0; f32: c / a, and 0 unless
 * a > 0. On writing, after white: floor((c a + floor(W / 2)) / W); f32: c a. Integer colours not above their alpha come back the
 * same. */
typedef struct imgpipe_layout {
    imgpipe_order order; /* of the samples of a pixel */
    bool premultiplied;  /* colours are multiplied by alpha */
    uint32_t white;      /* the value of full intensity, or 0 for that of the type */
} imgpipe_layout;

/* An image in host memory, which belongs to the caller. Bytes between rows are neither read nor written. */
typedef struct imgpipe_image {
    imgpipe_info info;     /* size and format */
    void *pixels;          /* the first sample of the first row, aligned to the sample size */
    /* The distance from a row to the next in bytes: a multiple of the sample size whose magnitude is at least width times the
     * pixel's size in memory (imgpipe_layout_pixel_size()); negative where the rows lie bottom up. */
    ptrdiff_t stride;
    imgpipe_layout layout; /* how the samples lie in memory; all zero: as the format says */
} imgpipe_image;

/* Bytes of one sample: 1, 2 or 4. */
static inline size_t imgpipe_sample_size(imgpipe_type type) { return type == IMGPIPE_U8 ? 1 : type == IMGPIPE_U16 ? 2 : 4; }
/* Bytes of one pixel without a layout of its own. */
static inline size_t imgpipe_pixel_size(imgpipe_format format) {
    return imgpipe_sample_size(format.type) * (size_t)format.channels;
}
/* Bytes of one pixel in memory: one sample more where the layout has an unused one. */
static inline size_t imgpipe_layout_pixel_size(imgpipe_format format, imgpipe_layout layout) {
    bool unused = layout.order >= IMGPIPE_ORDER_RGBX && layout.order <= IMGPIPE_ORDER_XBGR;
    return imgpipe_sample_size(format.type) * ((size_t)format.channels + (unused ? 1 : 0));
}
/* The value that stands for full intensity: 255, 65535 or 1. */
static inline double imgpipe_type_max(imgpipe_type type) { return type == IMGPIPE_U8 ? 255.0 : type == IMGPIPE_U16 ? 65535.0 : 1.0; }

/* --------------------------------------------------------------------------------------------- contexts */

/* How much a line of the log matters, the weightiest first. */
typedef enum imgpipe_log_level {
    IMGPIPE_LOG_ERROR,   /* something failed */
    IMGPIPE_LOG_WARNING, /* something was damaged, and the run goes on */
    IMGPIPE_LOG_NOTICE,  /* something was converted, dropped or assumed */
    IMGPIPE_LOG_DETAIL   /* the plan, and why it is so */
} imgpipe_log_level;

/* A context holds the device, the threads and the memory pools. It may be used from several threads; runs on one
 * context share its threads. Contexts are independent of each other. */
typedef struct imgpipe_context imgpipe_context;

/* How a context is made. */
typedef struct imgpipe_context_options {
    size_t struct_size;   /* sizeof(imgpipe_context_options) */
    const char *device;   /* "auto" (default), "cpu", "cuda", "cuda:N", "cuda:all"; "auto:N" decides between the CPU and that GPU */
    int threads;          /* all working threads, the caller's included; 0: the CPUs allowed by affinity and cgroup */
    uint64_t memory;      /* ceiling of the plan in bytes; 0: half of what the machine or cgroup has */
    uint64_t gpu_memory;  /* the same in device memory; 0: half of what is free */
    uint64_t pinned_memory; /* ceiling of host memory pinned for copies to a GPU; 0: none. What is over it is copied slower. */
    /* For many images at once, each on a context of its own: so many contexts share the budgets above and their defaults, and
     * about so many runs are to come in all of them, against which a GPU's start-up is weighed. 0: 1. */
    int share;
    int64_t runs;
    /* The number of this context among those, from 0. With `cuda:all` each of several works on one GPU, which its number chooses, and
     * on another once that one fails; a context alone shares out the strips of each image among all GPUs. With a GPU that fails goes
     * what gathers (`hist`) had counted there: such a run ends with IMGPIPE_ERROR_DEVICE, and the next does without that GPU. */
    int turn;
    /* A GPU that is named by `cuda` or `cuda:N` is looked for while the first run reads its input, which hides 0.2 s. If it is absent
     * that run fails with IMGPIPE_ERROR_DEVICE, not imgpipe_context_new(). */
    bool device_later;
    /* Until a GPU has started, runs whose filters take the CPU less than half of that time (0.2 s) are done by the CPU, whatever
     * `device` names: the bytes are the same. The report's `device` says so. With a GPU that the system shows and the driver then
     * refuses some images may be done before the first that fails. */
    bool cpu_meanwhile;
    const char *isa;      /* instruction set: NULL (best), or a name from imgpipe_isa_name() */
    /* Called for warnings, notices and (`-v`) details, from any thread, one line without newline. May be NULL. */
    void (*log)(void *user, imgpipe_log_level level, const char *message);
    /* Called now and then from any thread during a run with the share done, 0 … 1. May be NULL. */
    void (*progress)(void *user, double done);
    /* Asked between pieces of work from any thread; true ends the run with IMGPIPE_ERROR_CANCELLED. May be NULL. */
    bool (*cancelled)(void *user);
    void *user;           /* handed to the callbacks */
    /* Where large blocks of host memory come from: every buffer of rows, and images kept between passes up to `memory` (beyond it
     * those go to a file without a name in TMPDIR). Each block is aligned to `alignment`, a power of two, and undefined; it is
     * given back with its size, at the latest by imgpipe_context_free(), and used again between runs until then. Called from any
     * thread; NULL from allocate() ends the run with IMGPIPE_ERROR_MEMORY. Both or none; NULL: pages of the system. Not from here
     * come: rows of runs on a GPU, whose driver must know the pages, images that a decoder or encoder must hold as a whole, and
     * small structs (contexts, chains, plans, tables of filters), which come from malloc(). */
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *block, size_t size);
    /* Device memory for runs and plans on a GPU, from any thread, with that GPU current: at least `size` bytes at a multiple of
     * `alignment`, or NULL; it is given back with its size, at the latest by imgpipe_context_free(). Both or none; NULL:
     * cudaMalloc() and cudaFree(). */
    void *(*device_allocate)(void *user, size_t size, size_t alignment);
    void (*device_release)(void *user, void *block, size_t size);
} imgpipe_context_options;

/* The defaults: the device that suits the work, all CPUs, half of the memory, no callbacks. */
IMGPIPE_API imgpipe_context_options imgpipe_context_options_default(void);
/* Makes a context. `options` may be NULL for the defaults; strings are copied. A device that was named and is not
 * there: IMGPIPE_ERROR_DEVICE. */
IMGPIPE_API imgpipe_status imgpipe_context_new(const imgpipe_context_options *options, imgpipe_context **context, imgpipe_error *error);
/* What 0 threads stand for. */
IMGPIPE_API int imgpipe_default_threads(void);
/* Frees a context that no run uses any more, and sets the pointer to NULL. NULL is allowed. */
IMGPIPE_API void imgpipe_context_free(imgpipe_context **context);

/* ------------------------------------------------------------------------------------------------ chains */

/* A chain: parsed from text, or built stage by stage, of at most 1000 stages. Runs only read it, so any number of threads may
 * run it at once; while one thread adds a stage or sets a parameter nobody else may use it, nor may anything that was prepared
 * from it still be in use. */
typedef struct imgpipe_chain imgpipe_chain;

/* Parses `text` (the syntax of `-f`; NULL or empty is the empty chain). On failure error->place and ->length mark
 * the faulty part of `text`. */
IMGPIPE_API imgpipe_status imgpipe_chain_parse(const char *text, imgpipe_chain **chain, imgpipe_error *error);
/* Frees a chain that nothing uses any more, and sets the pointer to NULL. NULL is allowed. */
IMGPIPE_API void imgpipe_chain_free(imgpipe_chain **chain);

/* Makes a chain without stages. */
IMGPIPE_API imgpipe_status imgpipe_chain_new(imgpipe_chain **chain, imgpipe_error *error);
/* Adds a stage, a filter with its defaults, at the end of a chain, which may also come from imgpipe_chain_parse(). A parameter
 * without a default (`mask` of conv) is asked for when the chain is run. */
IMGPIPE_API imgpipe_status imgpipe_chain_add(imgpipe_chain *chain, const char *filter, imgpipe_error *error);

typedef struct imgpipe_filter imgpipe_filter;
typedef struct imgpipe_param imgpipe_param;

/* A value on the scale of samples. */
typedef struct imgpipe_sample {
    double value; /* in sample units (0 … 255, 65535 or 1), or in per cent */
    bool percent; /* value is in per cent of the full range */
} imgpipe_sample;

/* Set the parameter `param` of stage `stage` (from 0; -1: the last one), once more if it has been set before. Each checks what
 * the parser checks and says the same; besides, the function must fit the parameter's type (imgpipe_param_type: _int is for INT
 * and ODD). Texts are copied, and taken as they are: no quotes, no escapes. After a failure the chain is as it was. */
IMGPIPE_API imgpipe_status imgpipe_chain_set_int(imgpipe_chain *chain, int stage, const char *param, int64_t value,
                                                 imgpipe_error *error);
IMGPIPE_API imgpipe_status imgpipe_chain_set_number(imgpipe_chain *chain, int stage, const char *param, double value,
                                                    imgpipe_error *error);
IMGPIPE_API imgpipe_status imgpipe_chain_set_sample(imgpipe_chain *chain, int stage, const char *param, imgpipe_sample value,
                                                    imgpipe_error *error);
IMGPIPE_API imgpipe_status imgpipe_chain_set_bool(imgpipe_chain *chain, int stage, const char *param, bool value,
                                                  imgpipe_error *error);
IMGPIPE_API imgpipe_status imgpipe_chain_set_text(imgpipe_chain *chain, int stage, const char *param, const char *value,
                                                  imgpipe_error *error);
/* The same for a parameter of type CHOICE, by the name of the choice. */
IMGPIPE_API imgpipe_status imgpipe_chain_set_choice(imgpipe_chain *chain, int stage, const char *param, const char *value,
                                                    imgpipe_error *error);

/* The chain as text that parses to the same chain, in one way of many: each stage's name, then the parameters that differ from
 * their defaults, named, in the order of the filter's table, quoted only where they must be. "blur=2.50,gray=601" gives
 * "blur=sigma=2.5,gray". The text belongs to the chain and lives until that is changed or freed. error->place of a run of a chain
 * that was built or changed is a place in this text, of one that was parsed in the text that was given. */
IMGPIPE_API const char *imgpipe_chain_text(const imgpipe_chain *chain);

/* A value that the chain's text gives, for who must know which files a chain names. A filter's parameter `data` names side data,
 * and a text that begins with '@' a file that is read. */
typedef struct imgpipe_chain_value {
    const imgpipe_filter *filter; /* of the stage */
    const imgpipe_param *param;   /* which of its parameters */
    const char *text;             /* the value as it was given; belongs to the chain */
    int place, length;            /* where its bytes are in the chain's text, and how many */
} imgpipe_chain_value;

/* The filters of the stages in their order: index 0 … count-1; NULL beyond. */
IMGPIPE_API const imgpipe_filter *imgpipe_chain_filter_at(const imgpipe_chain *chain, int index);

/* The values in the order of the text: index 0 … count-1; false beyond. */
IMGPIPE_API bool imgpipe_chain_value_at(const imgpipe_chain *chain, int index, imgpipe_chain_value *value);

/* -------------------------------------------------------------------------------------------------- runs */

/* What happens to a file that is already there under the name of the output. */
typedef enum imgpipe_overwrite {
    IMGPIPE_OVERWRITE_ALWAYS, /* it is replaced, once the new one is complete */
    IMGPIPE_OVERWRITE_NEVER   /* it is kept, and the run fails with IMGPIPE_ERROR_OUTPUT */
} imgpipe_overwrite;

/* A histogram as numbers: for each channel `bins` 64-bit counters, then three for samples below min, above max, and NaN. Counter i
 * of channel c is at c * (bins + 3) + i. What is counted are the samples of the format, as chains see them: 12 bits in u16 with a
 * layout whose `white` is 4095 give 65536 bins, most of them empty, or with `hist=bins=4096` one for each value. */
typedef struct imgpipe_histogram {
    size_t struct_size; /* sizeof(imgpipe_histogram); set it before imgpipe_plan_histogram(), there is no _default() */
    imgpipe_info image; /* what is counted */
    int channels;       /* how many channels are counted */
    int64_t bins;       /* of each channel, all of one width */
    double min, max;    /* the range, in sample units; for f32 without min and max that of the last run's image */
    size_t size;        /* bytes of all counters */
} imgpipe_histogram;

/* How a run goes, and what it makes. What is about files does not touch runs in memory. */
typedef struct imgpipe_run_options {
    size_t struct_size;     /* sizeof(imgpipe_run_options) */
    const char *format;     /* kind of the output ("png", …); NULL: by the extension of the output's name */
    int depth;              /* 8, 16, 32 (f32), or 0: the input's */
    int level;              /* PNG, 0 store … 9 smallest; -1: 4 */
    int quality;            /* JPEG, 1 … 100; 0: 90 */
    uint64_t max_pixels;    /* larger images are refused before anything is allocated; 0: no limit */
    imgpipe_overwrite overwrite; /* whether an output that is there is replaced; default ALWAYS */
    int64_t strip_rows;     /* 0: chosen by the plan. Never changes the result. */
    int64_t step_rows;      /* 0: chosen by the plan. Never changes the result. */
    double background[3];   /* what alpha is blended over for kinds without alpha, 0 … 1; default white */
    int page;               /* which page of several, from 1; 0: the only one */
    int alpha;              /* -1: extra channels are what the file says; 0: data; 1: alpha */
    int subsampling;        /* JPEG: 444, 422 or 420; 0: 420 if the input is a JPEG with that, else 444 */
    int strip;              /* 0: carry everything over; 1: nothing but the ICC profile; 2: nothing */
    bool auto_orient;       /* turn the pixels as EXIF says, instead of carrying the tag over */
    bool allow_truncated;   /* a file that ends early gives what could be decoded, the rest 0, and a warning */
    /* Many images through one chain: gives the name of side data for this image, from the one that the chain says; the
     * result is freed by free(). NULL: the chain's name as it is. */
    char *(*data_name)(void *user, const char *name);
    void *data_user;        /* handed to data_name() */
    /* Gets the data of every stage that finds some (`hist`) as JSON, whether or not the chain names a file for them, once all
     * pixels were seen and before the output takes its name; false: there is no memory for them, and the run fails. May be
     * NULL. */
    bool (*take_data)(void *user, const imgpipe_filter *filter, const char *json, size_t length);
    void *take_user;        /* handed to take_data() */
    /* Called once the run is done, for each `hist` stage of the chain (counted from 0), with its numbers, which are valid during
     * the call. NULL: nobody asks. */
    void (*histogram)(void *user, int stage, const imgpipe_histogram *histogram, const uint64_t *counts);
    void *histogram_user;   /* handed to histogram() */
    /* Called when an output file is whole and is about to take its name, with its size and the time of its last change, which both
     * stay what they are: who notes what is done has noted it before, should the process be killed between the two. NULL: nobody
     * asks. */
    void (*output_whole)(void *user, uint64_t bytes, int64_t seconds, long nanoseconds);
    void *whole_user;       /* handed to output_whole() */
    bool poison;            /* for tests: fills buffers with garbage before use, so that a stage which reads
                               outside its declared input is found out */
} imgpipe_run_options;

/* The defaults, as each member says them. */
IMGPIPE_API imgpipe_run_options imgpipe_run_options_default(void);

/* What a run did. */
typedef struct imgpipe_report {
    size_t struct_size;     /* sizeof(imgpipe_report) */
    imgpipe_info in, out;   /* input and output, of the last image where there were several */
    uint64_t bytes_in, bytes_out; /* the sizes of the files; 0 for runs in memory */
    struct {
        double read, decode, upload, compute, download, encode, write; /* work of all threads added up */
        double total;       /* wall time */
    } seconds;              /* where the time went */
    char device[160];       /* the device that computed, and why it was chosen */
    int64_t images;         /* how many were run: more than one for a stream of PNM images, whose times are added up */
} imgpipe_report;

/* An empty report, with its size, for a run to fill. */
IMGPIPE_API imgpipe_report imgpipe_report_default(void);

/* Runs a chain from file to file. `in` and `out` are paths; "-" is standard input or output; `out` may be NULL to write
 * nothing but side data (`hist=data=…`). The output appears complete under its name or not at all; the input is
 * never changed unless it is also the output. A file that changes while it is read fails. `options`, `report` and `error`
 * may be NULL. */
IMGPIPE_API imgpipe_status imgpipe_run_file(imgpipe_context *context, const imgpipe_chain *chain, const char *in, const char *out,
                                            const imgpipe_run_options *options, imgpipe_report *report, imgpipe_error *error);

/* Says which size and format a chain makes of an image; reads no pixel. */
IMGPIPE_API imgpipe_status imgpipe_chain_output(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *in,
                                                const imgpipe_run_options *options, imgpipe_info *out, imgpipe_error *error);

/* What running a chain on an image of some size and format takes. */
typedef struct imgpipe_needs {
    size_t struct_size;     /* sizeof(imgpipe_needs) */
    imgpipe_info out;       /* as imgpipe_chain_output() says it */
    /* How many pixels around an output pixel the chain reads, at most, in each direction; outside the image too, where border
     * rules. */
    int64_t left, top, right, bottom;
    /* The result depends on all pixels: the chain has a histogram or another gather, a border that wraps round, or a stage that
     * needs the image as a whole. The four numbers above then mean nothing. */
    bool whole;
    int passes;             /* how many times an image is walked over */
    /* Bytes that a run takes at the same time, beside the caller's images and some kilobytes: buffers of rows and images
     * between passes in host memory, and in the memory of the device where `device` says cuda. What decoders and encoders of files
     * hold comes on top. */
    uint64_t host_bytes, device_bytes;
    char device[160];       /* the device that would compute, and why */
} imgpipe_needs;

/* An empty struct, with its size, for imgpipe_chain_needs() to fill. */
IMGPIPE_API imgpipe_needs imgpipe_needs_default(void);
/* Fills `needs` for a run of imgpipe_run_image() with these arguments; reads no pixel. */
IMGPIPE_API imgpipe_status imgpipe_chain_needs(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *in,
                                               const imgpipe_run_options *options, imgpipe_needs *needs, imgpipe_error *error);

/* Runs a chain on an image in host memory. `out->info` must be what imgpipe_chain_output() says; its layout is free. Both images
 * belong to the caller. `out` may be NULL, as in imgpipe_run_file().
 *
 * No byte of a pixel of `out` may be one of a pixel of `in`, with one exception: both may be the same pixels (same address,
 * stride and size of a pixel in memory; layouts may differ) if every stage works on single pixels (`gray` changes the size of a
 * pixel; `invert`, `levels`, `threshold` do not) or passes the image on (`hist=pass`). Anything else is IMGPIPE_ERROR_ARGUMENT
 * before any work. Images may be interleaved, such as the left and the right half of one image with its stride. After a failure
 * the content of `out` is undefined. */
IMGPIPE_API imgpipe_status imgpipe_run_image(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_image *in,
                                             const imgpipe_image *out, const imgpipe_run_options *options, imgpipe_report *report,
                                             imgpipe_error *error);

/* Makes the part `region` of what imgpipe_run_image() would make of all of `in`, the same to the last bit, and reads no more of
 * `in` than that part depends on: pixels beside the region are the real neighbours, and a border begins only where the image
 * ends. `out->info` has the size of the region, which must lie within the image, and the format of the chain's output. What is
 * said of overlap above holds here for `out` and the part of `in` that is read. Chains that depend on all pixels (a
 * histogram, a border that wraps round), or change the image's size, and a `depth` that makes integers of f32, are refused with
 * IMGPIPE_ERROR_ARGUMENT. */
IMGPIPE_API imgpipe_status imgpipe_run_region(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_image *in,
                                              imgpipe_rect region, const imgpipe_image *out, const imgpipe_run_options *options,
                                              imgpipe_report *report, imgpipe_error *error);

/* An image that comes and goes row by row. */
typedef struct imgpipe_row_stream {
    size_t struct_size;                     /* sizeof(imgpipe_row_stream) */
    imgpipe_info in;                        /* of what read() gives; the height is known beforehand */
    imgpipe_layout in_layout, out_layout;   /* of the rows that read() gives and write() takes */
    /* Fills `row` with row y; called for each row once, in order. */
    imgpipe_status (*read)(void *user, int64_t y, void *row, imgpipe_error *error);
    /* Takes row y of the output, whose size and format are imgpipe_chain_output()'s, in order; `row` is the engine's again
     * afterwards. NULL: nothing is written. */
    imgpipe_status (*write)(void *user, int64_t y, const void *row, imgpipe_error *error);
    void *user;                             /* handed to both */
} imgpipe_row_stream;

/* An empty stream, with its size. */
IMGPIPE_API imgpipe_row_stream imgpipe_row_stream_default(void);
/* Runs a chain on such an image. Memory does not grow with the height unless the chain walks over the image several times (hist
 * of f32, a border that wraps round, stages behind a chart). Rows are packed, without gaps, and aligned to 64 bytes. Both
 * functions are called from threads of the context: no two calls of the same function at once, but a read() and a write() may
 * overlap. Either ends the run by returning anything but IMGPIPE_OK, which the run then returns, with the message that it put
 * into `error` (or one of ours, if it left that alone): IMGPIPE_ERROR_CANCELLED for a wish, IMGPIPE_ERROR_INPUT or
 * IMGPIPE_ERROR_OUTPUT for a failure. Neither is called again after that. */
IMGPIPE_API imgpipe_status imgpipe_run_rows(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_row_stream *stream,
                                            const imgpipe_run_options *options, imgpipe_report *report, imgpipe_error *error);

/* -------------------------------------------------------------------------------------------- prepared plans
 *
 * A plan is a chain made ready for many images of one format, frame by frame: everything that takes time or memory is done once. A
 * plan belongs to one thread and, where it is enqueued, to one stream at a time; several plans of a context may be used at once.
 * The context must outlive the plan; the chain need not. */

/* A chain that is bound to a format and a largest size, with all memory that its runs need. */
typedef struct imgpipe_plan imgpipe_plan;

/* How a plan is made. */
typedef struct imgpipe_prepare_options {
    size_t struct_size; /* sizeof(imgpipe_prepare_options) */
    int depth;      /* as in imgpipe_run_options */
    bool no_output; /* only the counts of `hist` are wanted */
    /* Bytes kept beyond what the chain needs as it stands, both for stages and for rows, for parameters that are to change: a
     * median that grows, a threshold that becomes a table. The default is 1 MiB. How much a change needs is not told beforehand:
     * where the largest values are known, prepare the chain with them, and then set smaller ones. */
    size_t reserve;
    /* Device memory that enqueued runs use, aligned to 256 bytes, of at least imgpipe_prepare_scratch() bytes; it is the caller's
     * and may be shared by plans whose runs follow each other on one stream. NULL: the plan takes its own. */
    void *device_scratch;
    size_t device_scratch_size; /* its bytes */
} imgpipe_prepare_options;

/* The defaults, as each member says them. */
IMGPIPE_API imgpipe_prepare_options imgpipe_prepare_options_default(void);

/* Binds the chain to images of the format and at most the size of `largest`. On a context whose device is a GPU (`cuda`, `cuda:N`;
 * of `cuda:all` the first) the plan is for imgpipe_plan_enqueue(), and every kernel that it needs is loaded here; on all others it
 * is for imgpipe_plan_run(). A stage that writes files (`data=`) is refused, and on a GPU also what needs a step of the host between
 * two stages: the chart of `hist` (use `hist=pass`), the range of an f32 histogram without min and max, and stages that need the
 * whole image. `options` may be NULL. */
IMGPIPE_API imgpipe_status imgpipe_prepare(imgpipe_context *context, const imgpipe_chain *chain, const imgpipe_info *largest,
                                           const imgpipe_prepare_options *options, imgpipe_plan **plan, imgpipe_error *error);
/* Frees the plan and sets the pointer to NULL. Enqueued runs use the plan's device memory, and captured graphs keep pointers to it:
 * whoever frees a plan must first have waited for the stream, and must not launch such a graph again. NULL is allowed. */
IMGPIPE_API void imgpipe_plan_free(imgpipe_plan **plan);

/* What the plan makes of an image of this size. The plan is bound to the size, as by a run. */
IMGPIPE_API imgpipe_status imgpipe_plan_output(imgpipe_plan *plan, int64_t width, int64_t height, imgpipe_info *out,
                                               imgpipe_error *error);

/* Runs the plan on an image in host memory, with the same bytes as imgpipe_run_image(); progress is not told. `in` has the format that was prepared and
 * at most its size, `out` what imgpipe_plan_output() says; `out` is NULL if the plan was prepared without output. Nothing is
 * allocated, but for the chart of `hist`. Little work is done by the calling thread alone; more is shared among the threads of the
 * context. The first run at another size than the one before binds the stages to it, which costs what their setup costs
 * (microseconds; for tables of 16 bits up to a millisecond; `conv=@FILE` reads its file again). Input and output may be the same
 * image if all stages are point stages and pixels do not grow; any other overlap is refused. */
IMGPIPE_API imgpipe_status imgpipe_plan_run(imgpipe_plan *plan, const imgpipe_image *in, const imgpipe_image *out,
                                            imgpipe_error *error);

/* Changes a parameter of a stage (counted from 0 in the order of the chain; -1 is none) for the runs to come, without allocation.
 * Text is what could stand in a chain ("50%", "clamp", "yes", "1 2 1;2 4 2;1 2 1"), whatever the parameter's type; it is copied.
 * _int and _number stand for the text of the number, and fit every type that this fits. A value that is not valid gives
 * IMGPIPE_ERROR_ARGUMENT, one that needs more than was prepared (see `reserve`) IMGPIPE_ERROR_MEMORY; the plan then stays as it
 * was. What a `hist` stage counts to is forgotten with a change of its parameters, as the counters may be others. */
IMGPIPE_API imgpipe_status imgpipe_plan_set_int(imgpipe_plan *plan, int stage, const char *name, int64_t value,
                                                imgpipe_error *error);
IMGPIPE_API imgpipe_status imgpipe_plan_set_number(imgpipe_plan *plan, int stage, const char *name, double value,
                                                   imgpipe_error *error);
IMGPIPE_API imgpipe_status imgpipe_plan_set_text(imgpipe_plan *plan, int stage, const char *name, const char *text,
                                                 imgpipe_error *error);

/* Describes the histogram of the `hist` stage with this index in the chain. */
IMGPIPE_API imgpipe_status imgpipe_plan_histogram(const imgpipe_plan *plan, int stage, imgpipe_histogram *histogram,
                                                  imgpipe_error *error);
/* From now on the runs of the plan write what this stage counts to `counts`, or add it to what is there: imgpipe_histogram.size
 * bytes, in host memory for imgpipe_plan_run(), in device memory for imgpipe_plan_enqueue(). NULL: no more. */
IMGPIPE_API imgpipe_status imgpipe_plan_count(imgpipe_plan *plan, int stage, uint64_t *counts, bool add, imgpipe_error *error);

/* An image whose `pixels` are in the memory of a CUDA device. Kernels want rows at addresses and (positive) strides that are
 * multiples of 256 bytes, as cudaMallocPitch() makes them, and no layout but the format's own: such images are used where they
 * are, others are copied or converted into or out of the plan's scratch on the way. Rows that are used where they are, the last one
 * too, are read to the next multiple of 16 bytes behind their last sample (what is there does not matter; memory of height times
 * stride bytes always reaches that far). A sample above the white level of a layout counts as white. */
typedef imgpipe_image imgpipe_device_image;

/* How many bytes of device scratch a plan needs for these arguments of imgpipe_prepare(). */
IMGPIPE_API imgpipe_status imgpipe_prepare_scratch(imgpipe_context *context, const imgpipe_chain *chain,
                                                   const imgpipe_info *largest, const imgpipe_prepare_options *options,
                                                   size_t *size, imgpipe_error *error);

/* Enqueues the work for one image on `stream` (a cudaStream_t of the context's device; NULL: the legacy default stream) and
 * returns. Only kernels, copies within the device and memsets are enqueued: nothing is allocated, waited for, queried or loaded, so
 * that the call can be captured into a CUDA graph. A captured graph computes what the plan was set to when it was captured. Images,
 * counters, and the plan must stay until the stream has done the work; runs of one plan must follow each other, on one stream or
 * ordered by events. The thread's current device is left as it was. What f32 loses on its way to integers is not reported. */
IMGPIPE_API imgpipe_status imgpipe_plan_enqueue(imgpipe_plan *plan, const imgpipe_device_image *in, const imgpipe_device_image *out,
                                                void *stream, imgpipe_error *error);

/* ------------------------------------------------------------------------------------------- what there is */

/* The filters of this build in the order of listings: index 0 … count-1; NULL beyond. */
IMGPIPE_API const imgpipe_filter *imgpipe_filter_at(int index);
/* The filter of that name, or NULL if there is none. */
IMGPIPE_API const imgpipe_filter *imgpipe_filter_find(const char *name);

/* A registry knows the filters of this build, and others: those of the program itself, and those of plug-ins, which are shared
 * objects that define `imgpipe_plugin` (see the end of this file). Chains that are made with a registry may name all of them.
 *
 * Any number of threads may use a registry as long as none of them adds or loads; chains that were made with it may be run
 * meanwhile. Each chain and each prepared plan keeps the registry alive that it was made with, so that objects may be freed in any
 * order; the plug-ins are unloaded with the last of them. */
typedef struct imgpipe_registry imgpipe_registry;

/* Makes a registry that knows the filters of this build. */
IMGPIPE_API imgpipe_status imgpipe_registry_new(imgpipe_registry **registry, imgpipe_error *error);
/* Gives the registry up, and sets the pointer to NULL. NULL is allowed. */
IMGPIPE_API void imgpipe_registry_free(imgpipe_registry **registry);

/* Adds a filter of the program's own, of which nothing is copied: it must stay as long as the registry and what keeps that alive. A
 * descriptor that does not keep to what is said below, or has a name that is there already, is refused with the reason. */
IMGPIPE_API imgpipe_status imgpipe_registry_add(imgpipe_registry *registry, const imgpipe_filter *filter, imgpipe_error *error);
/* Loads a plug-in: all of its filters, or none and the reason. `file` is a path with at least one slash, as nothing is searched for:
 * "./stage.so" is a file in the current folder. Loading runs code of the file, so load only what you trust. The same plug-in once
 * more changes nothing. */
IMGPIPE_API imgpipe_status imgpipe_registry_load(imgpipe_registry *registry, const char *file, imgpipe_error *error);
/* Loads every plug-in in a folder, that is each `*.so` that is not hidden, in the order of their names as bytes. What is refused is
 * told to `refused`, and the others are loaded; if that is NULL the first refusal ends the call. */
IMGPIPE_API imgpipe_status imgpipe_registry_load_folder(imgpipe_registry *registry, const char *folder,
                                                        void (*refused)(void *user, const imgpipe_error *error), void *user,
                                                        imgpipe_error *error);

/* As imgpipe_filter_at(): first the filters of this build, then the others in the order in which they
 * came. `registry` NULL: the filters of this build alone. */
IMGPIPE_API const imgpipe_filter *imgpipe_registry_at(const imgpipe_registry *registry, int index);
/* The filter of that name, or NULL. */
IMGPIPE_API const imgpipe_filter *imgpipe_registry_find(const imgpipe_registry *registry, const char *name);

/* Where a filter came from; strings belong to the registry. */
typedef struct imgpipe_origin {
    const char *file;             /* as it was given to imgpipe_registry_load(), or found in a folder */
    const char *plugin, *version; /* the plug-in's own name and version */
} imgpipe_origin;

/* False if the filter comes from no plug-in. */
IMGPIPE_API bool imgpipe_registry_origin(const imgpipe_registry *registry, const imgpipe_filter *filter, imgpipe_origin *origin);
/* The same for stage `index` of a chain. */
IMGPIPE_API bool imgpipe_chain_origin_at(const imgpipe_chain *chain, int index, imgpipe_origin *origin);

/* As imgpipe_chain_parse(), with the filters of a registry (NULL: those of this build). */
IMGPIPE_API imgpipe_status imgpipe_chain_parse_with(imgpipe_registry *registry, const char *text, imgpipe_chain **chain,
                                                    imgpipe_error *error);
/* As imgpipe_chain_new(), with the filters of a registry. */
IMGPIPE_API imgpipe_status imgpipe_chain_new_with(imgpipe_registry *registry, imgpipe_chain **chain, imgpipe_error *error);

/* A kind of image files. */
typedef struct imgpipe_codec_info {
    const char *name;       /* what --format takes: "png" */
    const char *extensions; /* lower case, separated by spaces: "jpg jpeg" */
    const char *about;      /* a few words */
    bool reads, writes;     /* whether this build reads and writes such files */
    bool streams;           /* read by rows, so that memory does not grow with the height */
    const char *types;      /* what can be written: "u8 u16" */
    const char *package;    /* what this build lacks to read and write the kind; NULL: nothing */
} imgpipe_codec_info;

/* The kinds of files that are known: index 0 … count-1; NULL beyond. */
IMGPIPE_API const imgpipe_codec_info *imgpipe_codec_at(int index);

/* What the first bytes of a file say about it. */
typedef enum imgpipe_content {
    IMGPIPE_CONTENT_OTHER,      /* no image */
    IMGPIPE_CONTENT_IMAGE,      /* an image of a kind that is read */
    IMGPIPE_CONTENT_UNSUPPORTED /* an image of a kind that is known, and not read by this build */
} imgpipe_content;

/* How many bytes imgpipe_content_of() wants. */
#define IMGPIPE_CONTENT_BYTES 64
/* What a file is that begins with these bytes (IMGPIPE_CONTENT_BYTES of them, or all that there are). */
IMGPIPE_API imgpipe_content imgpipe_content_of(const void *bytes, size_t size);

/* The instruction sets of this build that this CPU has, from the least on; NULL beyond. */
IMGPIPE_API const char *imgpipe_isa_name(int index);

/* A device that can compute. */
typedef struct imgpipe_device_info {
    char name[32];          /* what --device takes: "cpu", "cuda:0" */
    char about[160];        /* what it is, in one line */
} imgpipe_device_info;

/* Fills up to `capacity` devices, the CPU first, and returns how many there are. `why_no_gpu` (may be NULL) gets one
 * line that says why there is no GPU, or an empty string. */
IMGPIPE_API int imgpipe_devices(imgpipe_device_info *devices, int capacity, char *why_no_gpu, size_t why_size);

/* --------------------------------------------------------------------------------------- adding a filter
 *
 * A filter is one `const imgpipe_filter`: its name and texts, its table of parameters, and a few functions. A stage
 * is a filter with options at its place in a chain, bound to the image that arrives there. There are four kinds. */

/* The four kinds of stage. */
typedef enum imgpipe_kind {
    IMGPIPE_POINT,  /* setup() lists operations on single pixels with imgpipe_stage_point(); runs of them are fused */
    /* rows() computes output rows from a window of input rows that need() declares; what it makes of a window does not depend on
     * where in the image that lies, since imgpipe_run_region() gives it parts of images */
    IMGPIPE_LOCAL,
    IMGPIPE_GATHER, /* gather() reduces the image to a state; then the image goes on, or render() makes a new one */
    IMGPIPE_WHOLE   /* render() gets the whole image at once */
} imgpipe_kind;

/* The type of a parameter, and with it that of its member of the options struct. */
typedef enum imgpipe_param_type {
    IMGPIPE_PARAM_INT,    /* int64_t */
    IMGPIPE_PARAM_ODD,    /* int64_t, odd numbers only */
    IMGPIPE_PARAM_NUMBER, /* double */
    IMGPIPE_PARAM_SAMPLE, /* imgpipe_sample: sample units, or per cent of the full range */
    IMGPIPE_PARAM_BOOL,   /* bool */
    IMGPIPE_PARAM_CHOICE, /* int: index into choices */
    IMGPIPE_PARAM_TEXT    /* const char *, owned by the chain */
} imgpipe_param_type;

/* A parameter without a default (initial == NULL) holds, while nobody gave it: INT and ODD INT64_MIN, NUMBER and SAMPLE
 * NaN, BOOL false, CHOICE -1, TEXT NULL. */
struct imgpipe_param {
    const char *name;           /* [a-z][a-z0-9_]* */
    size_t offset;              /* of the member in the options struct */
    imgpipe_param_type type;    /* and so the member's C type */
    const char *initial;        /* the default as the user would write it, or NULL */
    /* Inclusive range of INT, ODD, NUMBER and SAMPLE; -INFINITY and INFINITY are no limit, 0 and 0 allow nothing but 0. INT and ODD
     * never leave the range of +-9e15. A SAMPLE in sample units is compared as it was written, whatever the type of the image, one
     * in per cent as that share of 65535: 0 and 65535 let pass what is right for some image, and setup() looks at the rest. For
     * other types write 0, 0. */
    double min, max;
    const char *const *choices; /* CHOICE: names, ended by NULL */
    const char *help;           /* one line */
};

/* What lies beyond the edge of an image. */
typedef enum imgpipe_border {
    IMGPIPE_BORDER_CLAMP,    /* the edge sample: a a | a b c | c c */
    IMGPIPE_BORDER_REFLECT,  /* the edge sample is repeated: b a | a b c | c b */
    IMGPIPE_BORDER_MIRROR,   /* the edge sample is not repeated: c b | a b c | b a */
    IMGPIPE_BORDER_WRAP,     /* the other side: b c | a b c | a b */
    IMGPIPE_BORDER_CONSTANT  /* stage->border_value in every channel */
} imgpipe_border;

/* A filter with options at its place in a chain. */
typedef struct imgpipe_stage imgpipe_stage;

/* Input of one call of a CPU kernel. For output row y + i (i < count) the window of need() begins at in[i]: for a
 * filter that reads `r` rows up and down it is in[i] … in[i + 2r]. Each pointer is the row's
 * column 0; columns from need().x0 to need().x1 may be read, the border is filled in; rows above and below the image
 * are pointers to the right row. Up to IMGPIPE_ROW_SLACK bytes further on either side may be read (what is there is
 * undefined; a gather must not read it), none may be written. Rows start at addresses that are multiples of
 * IMGPIPE_ROW_ALIGN where the engine made them, of the sample size otherwise; so do `state` and `scratch`, always.
 *
 * A gather gets `count` rows of the image, each once in a walk: row y + i is in[i], `in_count` is `count`, and of a row the
 * in_width pixels of the image may be read, as there is no border. `out` and `state` are NULL, as nothing is made and the state
 * comes by itself.
 *
 * The image is the one that the stage is bound to, so that in_width is stage->in.width and out_width is stage->out.width (for a
 * gather in_width), and setup() can say what scratch they take; imgpipe_run_region() binds stages to the part of the image that it
 * reads. Where a stage has set `columns`, out is as wide as in, and a call may be about some of the columns alone, as if they were the
 * image: in_width and out_width are their number, column 0 is the first of them, and those beside it are there as need() says. Each part
 * has a `state` of its own, and keeps its columns from call to call of a strip. */
typedef struct imgpipe_rows {
    const void *const *in; /* the input rows of the window, from its top row on */
    void *const *out;   /* the output rows to fill, `count` of them */
    int64_t y;          /* the first output row, in the image */
    int64_t in_y;       /* the input row that in[0] stands for, in the image; may be negative */
    int count;          /* output rows to make */
    int in_count;       /* input row pointers */
    int64_t in_width, out_width; /* of the images, in pixels */
    bool first;         /* LOCAL: the first call of a strip: there is no earlier state; later calls go on where the last ended */
    void *state;        /* stage->state_size bytes, kept from call to call of one strip; zero at the first */
    void *scratch;      /* stage->scratch_size bytes, undefined at every call */
    const void *const *ahead; /* NULL, or `count` rows that later calls come from: addresses to prefetch, nothing to read */
} imgpipe_rows;

/* Bytes that rows made by the engine are aligned to. */
#define IMGPIPE_ROW_ALIGN 64
/* Bytes on either side of a row's window that may be read, and hold anything. */
#define IMGPIPE_ROW_SLACK 64

/* Input of one launch on a device: views of device memory. Row y of the input, for y in [in_rect.y0, in_rect.y1), is in
 * slot s = in_slot + (y - in_rect.y0), less in_ring if that is in_ring or more, at `in + s * in_stride`; rows are whole
 * (columns 0 ... width-1, no borders: kernels find the border by index from the true image size in stage->in). The
 * output row y, for y in [out_rect.y0, out_rect.y1), is at `out + (y - out_rect.y0) * out_stride`. Strides are multiples
 * of 256 bytes, and so are `in` and `out`. in_rect holds every row of the image that need(out_rect) asks for. Rows
 * may be read to the next multiple of 16 bytes behind their last sample. */
typedef struct imgpipe_tile {
    const void *in;        /* slot 0 of the input's ring of rows */
    int64_t in_stride;     /* bytes from a slot to the next */
    int64_t in_slot;       /* the slot of row in_rect.y0 */
    int64_t in_ring;       /* how many slots there are */
    imgpipe_rect in_rect;  /* the part of the input that is there */
    void *out;             /* column 0 of row out_rect.y0 of the output */
    int64_t out_stride;    /* bytes from an output row to the next */
    imgpipe_rect out_rect; /* what is to be made */
    const void *constants; /* stage->constants, in device memory */
    void *scratch;         /* stage->device_scratch bytes a row of the tile, in device memory */
    void *state;           /* gathers: stage->gather_size bytes, zero before the first tile of a walk */
} imgpipe_tile;

/* Makes output rows of a LOCAL stage on the CPU. Called from any thread, for several strips at once, with different rows. */
typedef void (*imgpipe_rows_function)(const imgpipe_stage *stage, const imgpipe_rows *rows);
/* Adds input rows of a GATHER to `state`, which is this thread's own and zero at first, and aligned to IMGPIPE_ROW_ALIGN here (in
 * merge() and finish() as by malloc()). */
typedef void (*imgpipe_gather_function)(const imgpipe_stage *stage, const imgpipe_rows *rows, void *state);
/* Enqueues the work for `count` tiles on `stream` (a cudaStream_t) and returns the cudaError_t of the launch. */
typedef int (*imgpipe_cuda_function)(const imgpipe_stage *stage, const imgpipe_tile *tiles, int count, void *stream);

struct imgpipe_stage {
    size_t struct_size;     /* sizeof(imgpipe_stage) of the library */
    const imgpipe_filter *filter; /* the descriptor */
    const void *options;    /* the filter's options struct, filled from the chain */
    int isa;                /* the instruction set to choose kernels for: index of imgpipe_isa_name() of this build */
    imgpipe_info in;        /* what arrives */
    imgpipe_info out;       /* set by setup(), as all members below: what leaves; preset to `in` */
    void *data;             /* the filter's own, best from imgpipe_stage_alloc(); preset NULL */
    imgpipe_border border;  /* LOCAL; preset CLAMP */
    double border_value;    /* LOCAL, for CONSTANT, in sample units; rounded and clamped for integers */
    double cost;            /* about how many nanoseconds a sample takes on one CPU core; only for the choice of a device; preset 1 */
    bool identity;          /* the stage changes nothing and is left out; preset false */
    imgpipe_rows_function rows; /* LOCAL: the kernel for the CPU */
    int64_t step;           /* LOCAL: output rows that a call of rows() should have where memory allows it; preset 0, as few as suit the cache */
    size_t state_size, scratch_size; /* bytes of imgpipe_rows.state and .scratch; preset 0 */
    imgpipe_gather_function gather; /* GATHER: the kernel for the CPU */
    size_t gather_size;     /* bytes of the state of a gather, the same on the host and on the device */
    int walks;              /* GATHER: how many times the whole image must pass; preset 1 */
    int walk;               /* GATHER: the walk under way, from 0; set by the engine */
    bool renders;           /* GATHER: after the last walk render() makes a new image; otherwise the image goes on */
    const char *side_data;  /* GATHER: a file name for what side_data() writes ("-": standard output), or NULL */
    imgpipe_cuda_function cuda; /* LOCAL and GATHER; NULL: the chain cannot run on CUDA */
    const void *constants;  /* copied to device memory once per plan */
    size_t constants_size;  /* bytes of it */
    size_t device_scratch;  /* bytes of device memory that the launcher needs for each row of a tile */
    void *engine;           /* the engine's own; see imgpipe_stage_calls */
    bool columns;           /* LOCAL: rows() may be called for some columns of the rows at a time; see imgpipe_rows. Preset false */
};

/* The descriptor of a filter. It, and all that it points to, must stay as long as the filter may be used. */
struct imgpipe_filter {
    size_t struct_size;     /* sizeof(imgpipe_filter) */
    uint32_t abi;           /* IMGPIPE_ABI */
    const char *name;       /* [a-z][a-z0-9_]* */
    const char *summary;    /* one line */
    const char *description;/* paragraphs for --help, or NULL */
    imgpipe_kind kind;      /* which of the functions below are used */
    size_t options_size;    /* bytes of the options struct */
    const imgpipe_param *params; /* in the order of values without a name; NULL where there are none */
    int param_count;        /* how many */
    /* Checks options against stage->in and fills the stage. Called from one thread per stage; must not keep `error`. */
    imgpipe_status (*setup)(imgpipe_stage *stage, imgpipe_error *error);
    /* LOCAL: the input that the output rectangle `out` needs, which may reach outside the image. A pure function of the
     * stage, monotonic in `out`. NULL: the same rectangle. */
    imgpipe_rect (*need)(const imgpipe_stage *stage, imgpipe_rect out);
    /* GATHER: adds `from` to `into` (both gather_size bytes). Must be exactly associative and commutative. */
    void (*merge)(const imgpipe_stage *stage, void *into, const void *from);
    /* GATHER: takes the merged state of the walk stage->walk into stage->data. */
    imgpipe_status (*finish)(imgpipe_stage *stage, const void *state, imgpipe_error *error);
    /* GATHER: writes the side data by calling write() any number of times; write() returns false to stop. */
    void (*side_data)(const imgpipe_stage *stage, bool (*write)(void *to, const char *text, size_t length), void *to);
    /* GATHER that renders, and WHOLE: makes the whole of `out`. `in` is NULL for gathers. */
    imgpipe_status (*render)(const imgpipe_stage *stage, const imgpipe_image *in, const imgpipe_image *out, imgpipe_error *error);
    /* Frees what setup() or finish() took other than by imgpipe_stage_alloc(); called after a setup() that failed, too. May be
     * NULL. */
    void (*teardown)(imgpipe_stage *stage);
};

/* ---- operations of point stages */

/* What an operation does to a sample `v`, or to a pixel. Alpha is left alone by AFFINE, THRESHOLD and TABLE. */
typedef enum imgpipe_point_code {
    /* (v - pivot) * mul / div + offset. Integers: in double, floor(v + 0.5), clamped. f32:
     * fmaf((float)(mul / div), v - (float)pivot, (float)offset), not clamped. */
    IMGPIPE_POINT_AFFINE,
    /* v >= pivot ? mul : offset */
    IMGPIPE_POINT_THRESHOLD,
    /* table[v], 256 or 65536 entries of the sample's own type; integers only. The table belongs to the stage. */
    IMGPIPE_POINT_TABLE,
    /* Three colours to one. Integers: (w0 R + w1 G + w2 B + round) / divisor, rounded down and clamped;
     * f32: fmaf(f2, B, fmaf(f1, G, f0 * R)). A fourth channel stays if it is alpha, and is dropped if it is not. */
    IMGPIPE_POINT_MIX,
    /* To sample type `type`, alpha included: u8 -> u16 v * 257; u16 -> u8 (v + 128) / 257; to f32 v / 255 or v / 65535;
     * f32 -> integer floor(v max + 0.5) in double, clamped, NaN to 0. */
    IMGPIPE_POINT_CONVERT,
    /* Drops alpha, blending over `background` (in sample units). */
    IMGPIPE_POINT_FLATTEN,
    /* One gray channel becomes three equal ones; alpha stays. */
    IMGPIPE_POINT_EXPAND
} imgpipe_point_code;

/* One operation. Members that its code does not name are not looked at. */
typedef struct imgpipe_point_op {
    imgpipe_point_code code;  /* which operation */
    double pivot, mul, div, offset; /* AFFINE and THRESHOLD, in sample units */
    const void *table;        /* TABLE */
    int64_t weights[3];       /* MIX of integers: w0, w1, w2 */
    int64_t round, divisor;   /* MIX of integers */
    float float_weights[3];   /* MIX of f32: f0, f1, f2 */
    imgpipe_type type;        /* CONVERT: the type to come */
    double background[3];     /* FLATTEN: the colour, in sample units */
} imgpipe_point_op;

/* ---- for use inside setup(), finish() and render()
 *
 * These functions are inline and reach the library through the stage, so that a filter depends on no symbol of it: a plug-in works
 * wherever the library is, in a program, in a shared library, or in one that was loaded later, and links against nothing. */

/* What the functions below call; a stage's `engine` begins with a pointer to it. */
typedef struct imgpipe_stage_calls {
    size_t struct_size; /* sizeof(imgpipe_stage_calls) of the library */
    /* Behind imgpipe_stage_alloc(). */
    void *(*alloc)(imgpipe_stage *stage, size_t size, imgpipe_error *error);
    /* Behind imgpipe_stage_point(). */
    imgpipe_status (*point)(imgpipe_stage *stage, const imgpipe_point_op *op, imgpipe_error *error);
    /* Behind imgpipe_stage_notice(). */
    void (*notice)(const imgpipe_stage *stage, const char *format, va_list args);
    /* Behind imgpipe_stage_fail(). */
    imgpipe_status (*fail)(const imgpipe_stage *stage, imgpipe_error *error, const char *param, int at, int length,
                           const char *format, va_list args);
} imgpipe_stage_calls;

/* The functions of the library that made the stage. */
static inline const imgpipe_stage_calls *imgpipe_stage_calls_of(const imgpipe_stage *stage) {
    return *(const imgpipe_stage_calls *const *)stage->engine;
}

/* Zeroed memory that lives as long as the stage, aligned to 64 bytes; NULL (with `error` filled) when there is none. */
static inline void *imgpipe_stage_alloc(imgpipe_stage *stage, size_t size, imgpipe_error *error) {
    return imgpipe_stage_calls_of(stage)->alloc(stage, size, error);
}

/* Adds an operation to a POINT stage; the format after it becomes stage->out.format. */
static inline imgpipe_status imgpipe_stage_point(imgpipe_stage *stage, const imgpipe_point_op *op, imgpipe_error *error) {
    return imgpipe_stage_calls_of(stage)->point(stage, op, error);
}

/* A sample parameter in units of `type`: per cent are taken of the full range. */
static inline double imgpipe_sample_units(imgpipe_sample sample, imgpipe_type type) {
    /* Multiplied first: 60 % of 255 is then exactly 153. */
    return sample.percent ? sample.value * imgpipe_type_max(type) / 100.0 : sample.value;
}

/* The window rectangle of most local filters: `out` grown by rx columns and ry rows on each side. */
static inline imgpipe_rect imgpipe_grow(imgpipe_rect out, int64_t rx, int64_t ry) {
    out.x0 -= rx;
    out.y0 -= ry;
    out.x1 += rx;
    out.y1 += ry;
    return out;
}

/* Tells the user something once: passed to the context's log as a notice. */
IMGPIPE_PRINTF(2, 3)
static inline void imgpipe_stage_notice(const imgpipe_stage *stage, const char *format, ...) {
    va_list args;
    va_start(args, format);
    imgpipe_stage_calls_of(stage)->notice(stage, format, args);
    va_end(args);
}

/* Fills `error` for parameter `param` (may be NULL) of the stage, `at` bytes into its value with `length` bytes faulty
 * (0: the whole value), so that the command marks the place. "FILTER PARAM: " goes before the message. Returns IMGPIPE_ERROR_ARGUMENT. */
IMGPIPE_PRINTF(6, 7)
static inline imgpipe_status imgpipe_stage_fail(const imgpipe_stage *stage, imgpipe_error *error, const char *param, int at,
                                                int length, const char *format, ...) {
    va_list args;
    va_start(args, format);
    imgpipe_status status = imgpipe_stage_calls_of(stage)->fail(stage, error, param, at, length, format, args);
    va_end(args);
    return status;
}

/* ---- plug-ins
 *
 * A plug-in is a shared object that defines one symbol, `imgpipe_plugin`:
 *
 *     static const imgpipe_filter *const filters[] = {&emboss, NULL};
 *     const imgpipe_plugin_info imgpipe_plugin = {sizeof(imgpipe_plugin_info), IMGPIPE_ABI, "emboss", "1.0", filters};
 *
 *     cc -shared -fPIC -O2 -ffp-contract=off $(pkg-config --cflags imgpipe) emboss.c -o emboss.so
 *
 * The command finds it by --plugin, in IMGPIPE_PLUGINS, and in the folder that `pkg-config --variable=pluginsdir imgpipe` names; a
 * program hands it to imgpipe_registry_load(). It is not linked with libimgpipe. `imgpipe --check-filter NAME` proves that its stages
 * keep to what is said above. */

/* What a plug-in says of itself. */
typedef struct imgpipe_plugin_info {
    size_t struct_size;  /* sizeof(imgpipe_plugin_info) */
    uint32_t abi;        /* IMGPIPE_ABI; a plug-in of another one is refused */
    const char *name;    /* one line */
    const char *version; /* one line; results that are kept (--resume) are made anew when it changes */
    const imgpipe_filter *const *filters; /* ended by NULL, at least one */
} imgpipe_plugin_info;

/* Defined by a plug-in, not by the library. */
IMGPIPE_API extern const imgpipe_plugin_info imgpipe_plugin;

#ifdef __cplusplus
}
#endif
#endif

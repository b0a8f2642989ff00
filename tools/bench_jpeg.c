/* The floor of JPEG folders for tools/bench: every file of a folder decoded through libjpeg(-turbo) to RGB rows that nobody looks at, by
 * two threads, with the library's default methods, which imgpipe uses as well. Usage: bench_jpeg FOLDER */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>

#define FILES_MOST 100000

static char *paths[FILES_MOST];
static int count;
static atomic_int next_file, failures;

struct errors {
    struct jpeg_error_mgr base;
    jmp_buf back;
};

static void on_error(j_common_ptr info) {
    longjmp(((struct errors *)info->err)->back, 1);
}

static unsigned char *read_file(const char *path, size_t *size) {
    struct stat st;
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = file && fstat(fileno(file), &st) == 0 ? malloc((size_t)st.st_size + 1) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)st.st_size, file) : 0;
    if (file) fclose(file);
    return bytes;
}

static void decode(const unsigned char *bytes, size_t size) {
    struct jpeg_decompress_struct jpeg;
    struct errors errors;
    unsigned char *volatile row = NULL;
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = on_error;
    if (setjmp(errors.back)) {
        failures++;
    } else {
        jpeg_create_decompress(&jpeg);
        jpeg_mem_src(&jpeg, bytes, size);
        jpeg_read_header(&jpeg, TRUE);
        jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_start_decompress(&jpeg);
        row = malloc((size_t)jpeg.output_width * (size_t)jpeg.output_components);
        JSAMPROW rows[1] = {row};
        while (row && jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, rows, 1);
        jpeg_finish_decompress(&jpeg);
    }
    free(row);
    jpeg_destroy_decompress(&jpeg);
}

static void *work(void *unused) {
    (void)unused;
    for (int i; (i = next_file++) < count;) {
        size_t size;
        unsigned char *bytes = read_file(paths[i], &size);
        if (bytes) decode(bytes, size);
        free(bytes);
    }
    return NULL;
}

int main(int argc, char **argv) {
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: bench_jpeg FOLDER\n");
        return 2;
    }
    for (struct dirent *entry; count < FILES_MOST && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && asprintf(&paths[count], "%s/%s", argv[1], entry->d_name) > 0) count++;
    closedir(folder);
    pthread_t other;
    bool two = pthread_create(&other, NULL, work, NULL) == 0;
    work(NULL);
    if (two) pthread_join(other, NULL);
    return count == 0 || failures > 0;
}

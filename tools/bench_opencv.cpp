/* OpenCV's side of the benchmark, with the same commands and chains as imgpipe's (bench_memory.c), as far as they are measured.
 *
 * usage: bench_opencv memory THREADS            commands on standard input, answers on standard output, see bench_memory.c
 *        bench_opencv file CHAIN IN [OUT]       one file; without OUT it is only read
 *        bench_opencv folder CHAIN IN OUT       all files of a folder, on two threads */
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* "1 2;3 4" as a mask that is divided by its sum, as imgpipe does with integers. */
static cv::Mat parse_mask(const std::string &text) {
    std::vector<float> values;
    int rows = 0;
    double sum = 0;
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line, ';'); rows++) {
        std::stringstream numbers(line);
        for (float value; numbers >> value; sum += value) values.push_back(value);
    }
    cv::Mat mask = cv::Mat(values, true).reshape(1, rows);
    return sum > 0 ? cv::Mat(mask / sum) : mask;
}

static void histogram(const cv::Mat &in) {
    int bins = in.depth() == CV_8U ? 256 : 65536;
    float range[] = {0, static_cast<float>(bins)};
    const float *ranges[] = {range};
    for (int channel = 0; channel < in.channels(); channel++) {
        cv::Mat counts;
        cv::calcHist(&in, 1, &channel, cv::Mat(), counts, 1, &bins, ranges);
    }
}

static void run_stage(const std::string &stage, const cv::Mat &in, cv::Mat &out) {
    std::string name = stage.substr(0, stage.find('=')), value = name.size() < stage.size() ? stage.substr(name.size() + 1) : "";
    if (name == "gray") {
        cv::cvtColor(in, out, cv::COLOR_BGR2GRAY);
    } else if (name == "blur") {
        cv::GaussianBlur(in, out, cv::Size(), value.empty() ? 2 : std::stod(value), 0, cv::BORDER_REPLICATE);
    } else if (name == "box") {
        cv::blur(in, out, cv::Size(std::stoi(value), std::stoi(value)), cv::Point(-1, -1), cv::BORDER_REPLICATE);
    } else if (name == "conv") {
        cv::filter2D(in, out, -1, parse_mask(value), cv::Point(-1, -1), 0, cv::BORDER_REPLICATE);
    } else if (name == "median") {
        cv::medianBlur(in, out, std::stoi(value));
    } else if (name == "hist") {
        histogram(in);
    } else {
        throw std::runtime_error("no such stage: " + stage);
    }
}

static void run_chain(const std::string &chain, const cv::Mat &in, cv::Mat &out) {
    std::stringstream stages(chain);
    cv::Mat between = in;
    std::vector<std::string> all;
    for (std::string stage; std::getline(stages, stage, ',');) all.push_back(stage);
    for (size_t i = 0; i < all.size(); i++) {
        cv::Mat next;
        run_stage(all[i], between, i + 1 == all.size() ? out : next);
        between = i + 1 == all.size() ? out : next;
    }
}

/* ------------------------------------------------------------------------------------------------ memory */

/* OpenCV takes large blocks by malloc(); with large pages, like imgpipe's side. */
static cv::Mat load(std::istringstream &arguments, std::vector<void *> &taken) {
    int width, height, channels, bytes;
    std::string path;
    arguments >> width >> height >> channels >> bytes >> std::ws;
    std::getline(arguments, path);
    size_t size = static_cast<size_t>(width) * height * channels * bytes, large = 2 << 20;
    void *memory = aligned_alloc(large, (size + large - 1) / large * large);
    if (!memory) throw std::runtime_error("no memory");
    madvise(memory, size, MADV_HUGEPAGE);
    for (void *block : taken) free(block);
    taken = {memory};
    std::ifstream file(path, std::ios::binary);
    if (!file.read(static_cast<char *>(memory), static_cast<std::streamsize>(size)))
        throw std::runtime_error("cannot read " + path);
    return cv::Mat(height, width, CV_MAKETYPE(bytes == 2 ? CV_16U : CV_8U, channels), memory);
}

static void memory_loop() {
    std::vector<void *> taken;
    cv::Mat in, out;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string command, chain;
        words >> command >> std::ws;
        try {
            if (command == "load") {
                in = load(words, taken);
                std::printf("ok\n");
            } else if (command == "run") {
                std::getline(words, chain);
                double began = now();
                run_chain(chain, in, out);
                std::printf("%.9f\n", now() - began);
            } else {
                std::printf("error: unknown command\n");
            }
        } catch (const std::exception &fault) {
            std::string text = fault.what();
            std::printf("error: %s\n", text.substr(0, text.find('\n')).c_str());
        }
        std::fflush(stdout);
    }
}

/* ------------------------------------------------------------------------------------------------- files */

static void one_file(const std::string &chain, const std::string &from, const std::string &to) {
    cv::Mat in = cv::imread(from, cv::IMREAD_UNCHANGED), out = in;
    if (in.empty()) throw std::runtime_error("cannot read " + from);
    if (!chain.empty()) run_chain(chain, in, out);
    if (!to.empty() &&
        !cv::imwrite(to, out,
                     to.size() > 4 && to.substr(to.size() - 4) == ".jpg" ? std::vector<int>{cv::IMWRITE_JPEG_QUALITY, 90}
                                                                         : std::vector<int>{}))
        throw std::runtime_error("cannot write " + to);
}

static void folder(const std::string &chain, const std::string &from, const std::string &to) {
    std::vector<cv::String> paths;
    cv::glob(from, paths, false);
    std::atomic<size_t> next{0};
    auto work = [&] {
        for (size_t i; (i = next++) < paths.size();)
            one_file(chain, paths[i], to.empty() ? "" : to + paths[i].substr(paths[i].rfind('/')));
    };
    std::thread other(work);
    work();
    other.join();
}

int main(int argc, char **argv) {
    std::string mode = argc > 2 ? argv[1] : "";
    try {
        if (mode == "memory") {
            cv::setNumThreads(std::stoi(argv[2]));
            memory_loop();
        } else if (mode == "file" && argc > 3) {
            one_file(argv[2], argv[3], argc > 4 ? argv[4] : "");
        } else if (mode == "folder" && argc > 3) {
            cv::setNumThreads(1); /* the two threads are ours */
            folder(argv[2], argv[3], argc > 4 ? argv[4] : "");
        } else {
            std::fprintf(stderr, "usage: bench_opencv memory THREADS | file CHAIN IN [OUT] | folder CHAIN IN [OUT]\n");
            return 2;
        }
    } catch (const std::exception &fault) {
        std::fprintf(stderr, "bench_opencv: %s\n", fault.what());
        return 1;
    }
    return 0;
}

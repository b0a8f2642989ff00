"""--batch -: a conversation over pipes, as another program holds it."""
import json
import os
import re
import resource
import signal
import subprocess

from harness import LONGEST, PROGRAM, Tally, check, environment, expect, left, png, read, run, write


class Companion:
    def __init__(self, *args, **how):
        self.process = subprocess.Popen([PROGRAM, "--batch", "-", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment(), **how)

    def say(self, job):
        line = job if isinstance(job, bytes) else json.dumps(job).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        check(line.endswith(b"\n"), "an answer has no end:", line)
        return json.loads(line) if line else {}

    def ask(self, job):
        self.say(job)
        return self.hear()

    def end(self, status=0):
        self.process.stdin.close()
        rest, err = self.process.stdout.read(), self.process.stderr.read().decode()
        self.process.wait(timeout=LONGEST)
        check(self.process.returncode == status, "the status is", self.process.returncode, "instead of", status, err)
        check(rest == b"", "answers that nobody asked for:", rest)
        return err


def test_conversation():
    write("b.png", png(20, 30))
    expect(0, "in.png", "-f", "gray,blur", "want.png")
    expect(0, "in.png", "-f", "invert", "--depth", "16", "--level", "9", "--strip", "deep.png")
    for more in ((), ("-j1",), ("-j4",)):
        companion = Companion(*more)
        answer = companion.ask({"id": "first", "in": "in.png", "out": "out.png", "chain": "gray,blur"})
        known = [answer[key] for key in ("id", "line", "status", "error", "exit")]
        check(known == ["first", 1, "ok", None, 0], answer)
        check((answer["input"], answer["output"], answer["width"], answer["height"]) == ("in.png", "out.png", 40, 30), answer)
        check(answer["bytes_out"] == os.path.getsize("out.png") and answer["seconds"]["total"] > 0, answer)
        check(read("out.png") == read("want.png"), "the image differs from that of the command")
        answer = companion.ask({"id": 2.5e3, "in": "in.png", "out": "out.png", "chain": "invert",
                                "options": {"depth": 16, "level": "9", "strip": True, "auto-orient": False}})
        check(answer["id"] == 2500 and answer["status"] == "ok" and read("out.png") == read("deep.png"), answer)
        answer = companion.ask(b' {"in":"in.png", "chain":"hist=data=h.csv"} \r\n')
        check(answer["id"] is None and answer["output"] is None and answer["status"] == "ok" and os.path.exists("h.csv"), answer)
        answer = companion.ask(b'\n\n{"in":"\\u0062.png","out":"c.ppm","id":"\\ud83d\\ude00 \\"x"}\n')
        check(answer["id"] == "\U0001f600 \"x" and answer["line"] == 6 and read("c.ppm")[:9] == b"P6\n20 30\n", answer)
        companion.say(b'{"in":"in.png","out":"last.png"}')
        companion.process.stdin.close()
        check(companion.hear()["line"] == 7, "a last line without an end has no answer")
        check("5 of 5 jobs done" in companion.end(), "no summary")
        check(os.path.exists("last.png"), "a last line without an end is not done")
        os.remove("last.png")


BAD = [
    (b"nonsense\n", "no JSON"), (b"{\"id\":7,\"in\":\"in.png\"\n", "no JSON.*byte"), (b"[1]\n", "no object"),
    (b"{\"in\":\"in.png\"} x\n", "behind the end"),
    ({"id": 7, "out": "o.png"}, "'in' is missing"), ({"id": 7, "in": 5}, "no text"),
    ({"id": 7, "in": "-", "out": "o.png"}, "standard input"),
    ({"id": 7, "in": "in.png", "out": "-"}, "standard output"), ({"id": 7, "in": "", "out": "o.png"}, "empty"),
    ({"id": 7, "in": "gone.png", "out": "o.png"}, "gone.png.*No such file"),
    ({"id": 7, "in": "in.png", "out": "no/where.png"}, "no/where"),
    ({"id": 7, "in": "in.png", "out": "o.xyz"}, "xyz|kind"),
    ({"id": 7, "in": "in.png", "out": "o.png", "chian": "gray"}, "did you mean chain"),
    ({"id": 7, "in": "in.png", "out": "o.png", "options": {"dept": 8}}, "did you mean depth"),
    ({"id": 7, "in": "in.png", "out": "o.png", "options": {"depth": 9}}, "depth: '9'"),
    ({"id": 7, "in": "in.png", "out": "o.png", "options": {"device": "cpu"}}, "no option of a job"),
    ({"id": 7, "in": "in.png", "out": "o.png", "options": {"depth": True}}, "value of 'depth'"),
    ({"id": 7, "in": "in.png", "out": "o.png", "options": [8]}, "no object"), ({"id": 7, "in": ".", "out": "."}, "one image"),
    ({"id": 7, "in": "in.png", "chain": "hist=data=-"}, "standard output carries"), ({"id": [7], "in": "in.png"}, "'id'"),
    (b'{"id":7,"in":"in\\u0000.png"}\n', "U\\+0000"), (b'{"id":7,"in":"' + b"x" * (1 << 20) + b'"}\n', "longer than 1048576"),
    (b'{"id":7,"in":"in.png",\0"out":"o.png"}\n', "no JSON"), (b'{"id":7,"in":"in\0.png","out":"o.png"}\n', "control character"),
    (b'{"id":7,"in":"in.png"}\0' + b"x" * 5000 + b"\n", "no JSON"), (b"\0" * 70000 + b"\n", "no JSON"),
    (b'{"in":' * 200 + b"\n", "too deep"), (b"\xff\xfe{}\n", "no JSON"), ({"id": 7, "in": "cut.png", "out": "o.png"}, "truncated"),
]


def test_bad_jobs_stop_nothing():
    write("cut.png", png(60, 60)[:-20])
    companion = Companion()
    for number, (job, says) in enumerate(BAD):
        answer = companion.ask(job)
        check(answer["status"] == "failed" and answer["exit"] > 0 and re.search(says, answer["error"]),
              job if len(job) < 999 else "", answer)
        check(answer["line"] == 2 * number + 1 and answer["id"] in (7, None), answer)
        check(companion.ask({"id": 8, "in": "in.png", "out": "good.png"})["status"] == "ok", "after", job)
    answer = companion.ask({"id": 9, "in": "in.png", "out": "o.png", "chain": "gray,blr"})
    check((answer["place"], answer["length"], answer["exit"]) == (5, 3, 2), answer)
    answer = companion.ask({"id": 9, "in": "in.png", "out": "good.png", "options": {"overwrite": "never"}})
    check((answer["status"], answer["exit"]) == ("kept", 1), answer)
    answer = companion.ask({"id": 9, "in": "in.png", "out": "good.png", "options": {"overwrite": "older"}})
    check((answer["status"], answer["error"], answer["exit"]) == ("skipped", None, 0), answer)
    write("end.png", png(4, 4)[:-4])
    companion.ask({"in": "end.png", "out": "good.png"})
    err = companion.end(1)
    check(f"{len(BAD) + 2} of {2 * len(BAD) + 4} jobs done" in err, "the summary is wrong:", err)
    check("imgpipe: 'end.png': warning: what follows the image" in err, "a warning does not begin with the file's name:", err)
    check(not os.path.exists("o.png"), "a bad job wrote something")


def test_jobs_one_by_one():
    """A job that comes when nothing else is to be done has all threads."""
    companion = Companion("-j3", "--device", "cpu")
    devices = {companion.ask({"id": number, "in": "in.png", "out": "o.png"})["device"] for number in range(50)}
    check(len(devices) == 1 and "3 threads" in next(iter(devices)), devices)
    companion.end()


def test_jobs_at_once():
    """A slow job does not hold up the others, whose answers come first."""
    os.mkfifo("slow.png")
    companion = Companion("-j3", "-f", "gray", "--device", "cpu")
    companion.say({"id": "slow", "in": "slow.png", "out": "s.png"})
    answers = [companion.ask({"id": number, "in": "in.png", "out": f"{number}.png"}) for number in range(20)]
    check([answer["id"] for answer in answers] == list(range(20)), answers)
    check(all("1 thread," in answer["device"] for answer in answers), "jobs beside another have more than one thread:", answers)
    write("slow.png", read("in.png"))
    check(companion.hear()["id"] == "slow", "the slow one has no answer")
    companion.end()
    check(read("s.png") == read("0.png"), "they differ")
    jobs = b"".join(json.dumps({"id": n, "in": "in.png", "out": f"o{n}.png", "chain": "blur"}).encode() + b"\n" for n in range(300))
    result = run("--batch", "-", "-j4", "-q", data=jobs)
    answers = [json.loads(line) for line in result.out.splitlines()]
    check(result.status == 0 and sorted(answer["id"] for answer in answers) == list(range(300)), result)
    check(len({read(f"o{n}.png") for n in range(300)}) == 1, "the images differ")


def test_companion_memory():
    if os.environ.get("IMGPIPE_SANITIZED"):
        return
    write("large.png", png(1200, 1000, value=9))
    expect(0, "large.png", "-o", "large.tga")
    companion = Companion("-j4", "--memory", "8M")
    for _ in range(3):
        companion.say({"id": 1, "in": "large.tga", "out": "large.ppm"})
        companion.say({"id": 2, "in": "in.png", "out": "small.ppm"})
    check(all(companion.hear()["status"] == "ok" for _ in range(6)), "what needs all memory is not done alone")
    companion.end()
    peaks = []
    for count in (200, 20000 if Tally.long else 2000):
        process = Companion("-j2").process
        for n in range(count):
            process.stdin.write(json.dumps({"id": n, "in": "in.png", "out": "o.png"}).encode() + b"\n")
            process.stdin.flush()
            check(json.loads(process.stdout.readline())["status"] == "ok", n)
        process.stdin.close()
        peaks.append(os.wait4(process.pid, 0)[2].ru_maxrss)
    check(peaks[1] < peaks[0] + 2000, "memory grows with the number of jobs:", peaks, "KiB")


def test_companion_ends():
    for number, want in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        companion = Companion()
        companion.ask({"in": "in.png", "out": "o.png"})
        companion.process.send_signal(number)
        check("stopped by a signal" in companion.end(want), "nothing is said of the signal")
    os.mkfifo("slow.png")
    companion = Companion()
    companion.say({"in": "slow.png", "out": "o2.png"})
    pipe = os.open("slow.png", os.O_WRONLY)  # waits for its reader
    companion.process.send_signal(signal.SIGTERM)
    check("stopped" in (companion.hear().get("error") or ""), "a silent pipe is waited for")
    companion.end(143)
    os.close(pipe)
    companion = Companion()
    companion.process.stdout.close()
    companion.process.wait(timeout=LONGEST)
    check(companion.process.returncode == 4 and companion.process.stderr.read() == b"", "nobody reads the answers, and it goes on")
    with open("/dev/full", "wb") as full:
        result = run("--batch", "-", data=b'{"in":"in.png","out":"o.png"}\n', stdout=full)
        check(result.status == 4 and "No space" in result.err, result)
    expect(0, "--batch", "-", says="0 of 0 jobs")
    expect(0, "--batch", "-", "-q", data=b"\n \n")


def test_companion_streams():
    """The streams that jobs and answers go through are neither input nor output of a job, whatever their name."""
    job = {"in": "in.png", "out": "/dev/stdout", "options": {"format": "png", "overwrite": "always"}}
    jobs = [job, {**job, "out": "-"}, {**job, "out": "answers.png"}, {**job, "out": "hard.png"}, {**job, "out": "here/"},
            {"in": "in.png", "chain": "hist=data=/dev/stdout"}, {"in": "in.png", "chain": "hist=data=answers.png"},
            {**job, "in": "/dev/stdin", "out": "o.png"}, {**job, "in": "jobs", "out": "o.png"}, {**job, "out": "right.png"}]
    write("jobs", b"".join(json.dumps(job).encode() + b"\n" for job in jobs))
    os.mkdir("here")
    with open("jobs", "rb") as source, open("answers.png", "wb") as answers:
        os.link("answers.png", "hard.png")
        os.link("answers.png", "here/in.png")
        result = run("--batch", "-", "-j1", stdin=source, stdout=answers)
    lines = [json.loads(line) for line in read("answers.png").splitlines()]
    check(result.status == 1 and [line["exit"] for line in lines] == [2] * 9 + [0], result, lines)
    check(all("standard output carries the answers" in line["error"] for line in lines[:7]), lines)
    check(all("standard input carries the jobs" in line["error"] for line in lines[7:9]), lines)
    left("answers.png", "hard.png", "here", "in.png", "jobs", "right.png")
    companion = Companion()  # the same with pipes
    check(companion.ask(job)["exit"] == 2, "an image goes into the answers")
    check(companion.ask({"in": "/dev/stdin", "out": "o.png"})["exit"] == 2, "a job is read as an image")
    check(companion.ask({"in": "in.png", "out": "/dev/null", "options": {"format": "png"}})["exit"] == 0, "/dev/null")
    companion.end(1)
    with open(os.devnull, "wb") as nothing:
        expect(0, "--batch", "-", "-q", data=json.dumps({**job, "out": "/dev/null"}).encode(), stdout=nothing)


def test_companion_folder():
    os.mkdir("in")
    jobs = b"".join(json.dumps({"in": name, "out": out}).encode() + b"\n"
                    for name in ("in", "*.gone") for out in ("x.png", "x.png/", None))
    result = run("--batch", "-", "-q", data=jobs)
    answers = [json.loads(line)["error"] for line in result.out.splitlines()]
    check(len(answers) == 6 and all("a job has one image" in error for error in answers), answers)
    left("in", "in.png")


def test_companion_usage():
    expect(2, "--batch", "file", says="write --batch -")
    for more in (("in.png",), ("-o", "x.png"), ("-r",), ("--resume",), ("--report", "x"), ("--dry-run",), ("--shard", "1/2")):
        expect(2, "--batch", "-", *more, says="leave out")
    for more, says in ((("-f", "gray,nonsense"), "'nonsense' is no filter.*\n.*gray,nonsense\n +\\^~"), (("-f", "@gone"), "gone"),
                       (("-f", "hist=data=-"), "carries the answers"), (("--format", "xyz"), "'xyz' is no kind")):
        expect(2, "--batch", "-", *more, says=says)
    expect(3, "--batch", "-", "--device", "cuda:99", says="cuda|CUDA|GPU")
    companion = Companion("-f", "gray", "--depth", "16", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40)))
    for _ in range(100):
        check(companion.ask({"in": "in.png", "out": "o.png"})["status"] == "ok", "files stay open")
    companion.end()
    expect(0, "in.png", "-f", "gray", "--depth", "16", "want.png")
    check(read("o.png") == read("want.png"), "the command line's chain and options do not count for jobs")

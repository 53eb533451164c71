#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that mean harm, or are merely broken, against the real server: each gets the right status,
memory stays bounded, and everyone else is still answered. Usage: hostile.py PROGRAM [--sanitized]"""
import concurrent.futures
import http.client
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
# Sanitizers keep freed memory for a while, and take theirs.
MOST_MEGABYTES = 1500 if "--sanitized" in sys.argv else 300
# What was wrong once made others wait for many seconds, or for ever; a busy machine makes them wait for a few tenths.
MOST_SECONDS = 5
# Of one answer, however busy the machine.
PATIENCE = 60 if "--sanitized" in sys.argv else 10
API = "/api/v1"
SCENARIO = {"model": "llama3.1-8b", "system": "dgx-h100", "gpus": 8, "tp": 2}
checks = 0
failures = []


def check(what, found, expected):
    global checks
    checks += 1
    if found != expected:
        failures.append(f"{what}: {found!r}, expected {expected!r}")


def start(*arguments):
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", *arguments],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    match = re.match(r"http://(.*):(\d+)/$", line)
    if not match:
        sys.exit(f"no address, but {line!r} {server.stderr.read()}")
    return server, int(match[2])


def ask(method, path, body=None, headers=None, timeout=PATIENCE, at=None):
    """Status, headers and body of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", at or port, timeout=timeout)
    given = {"Content-Type": "application/json"} if body is not None else {}
    given.update(headers or {})
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def status(*arguments, **named):
    return ask(*arguments, **named)[0]


def raw(data, patience=5):
    """What the server says to these bytes, until it hangs up or is silent for too long."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as s:
        try:
            s.sendall(data)
        except OSError:
            pass  # it may have hung up already; what it said is still there
        said = b""
        try:
            while part := s.recv(65536):
                said += part
        except OSError:
            pass
        return said


def code(said):
    match = re.match(rb"HTTP/1\.1 (\d+)", said)
    return int(match[1]) if match else said[:40]


def well():
    """Somebody harmless is answered, and soon."""
    before = time.monotonic()
    found = status("POST", API + "/train", json.dumps(SCENARIO))
    took = time.monotonic() - before
    return 200 if found == 200 and took < MOST_SECONDS else f"{found} after {took:.1f} s"


def most_megabytes():
    with open(f"/proc/{server.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024


def beside(what, count=60):
    """So many harmless requests are answered, half of them as soon as by a server that nobody attacks or nearly so: how
    busy this machine is is not what is checked."""
    took = {port: [], bystander: []}
    for _ in range(count):
        for at, times in took.items():
            begun = time.monotonic()
            check("beside " + what, status("POST", API + "/train", json.dumps(SCENARIO), at=at), 200)
            times.append(time.monotonic() - begun)
    here, there = (sorted(times)[count // 2] for times in took.values())
    late = sorted(took[port])[count - 1 - count // 20]
    print(f"beside {what}: half within {here * 1e3:.1f} ms, elsewhere {there * 1e3:.1f} ms; 19 of 20 within {late * 1e3:.1f} ms")
    check(f"beside {what}, {here * 1e3:.0f} ms, elsewhere {there * 1e3:.0f} ms", here < 0.25 + 5 * there, True)
    check(f"beside {what}, {max(took[port]):.1f} s at most", max(took[port]) < MOST_SECONDS, True)


def bodies():
    head = f"POST {API}/train HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for what, body, expected in [
        ("not JSON", "{", 400),
        ("empty", "", 400),
        ("bad UTF-8", b'{"model": "\xff\xfe"}', 400),
        ("NUL", b'{"model": "\0"}', 400),
        ("deep arrays", "[" * 100000, 400),
        ("deep objects", '{"a":' * 100000, 400),
        ("a hundred thousand elements", json.dumps({"set": ["a=b"] * 100000}), 400),
        ("huge number", '{"tp": 1e999, "model": "a", "system": "b"}', 400),
        ("long name", json.dumps({"model": "x" * 900000, "system": "dgx-h100"}), 400),
        ("a file", json.dumps({**SCENARIO, "model": "/etc/passwd"}), 400),
        ("a file by the way", json.dumps({**SCENARIO, "model": "../../etc/passwd"}), 400),
        ("a file to write", json.dumps({**SCENARIO, "trace": "/tmp/trace.json"}), 400),
        ("a file by --set", json.dumps({**SCENARIO, "set": ["device=/etc/passwd"]}), 400),
        ("endless stages", json.dumps({**SCENARIO, "pp": 2147483647}), 400),
    ]:
        check("body: " + what, status("POST", API + "/train", body), expected)
    check("10 MB", code(raw(head.encode() + b"Content-Length: 10485760\r\n\r\n" + b"x" * 10485760)), 413)
    check("10 EB", code(raw(head.encode() + b"Content-Length: 99999999999999999999\r\n\r\n")), 413)
    check("chunked", code(raw(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")), 411)
    check("gzip bomb", code(raw(head.encode() + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx")), 415)
    check("two lengths", code(raw(head.encode() + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}")), 400)
    check("no type", status("POST", API + "/train", "{}", {"Content-Type": "text/plain"}), 415)
    check("form", status("POST", API + "/train", "a=b", {"Content-Type": "application/x-www-form-urlencoded"}), 415)


def imports():
    """Texts of other tools that are none, too deep, too long, or lead to files and commands."""
    most = 900_000
    for what, text, name in (
            ("deep YAML", "a: " + "[" * most, "a.yaml"),
            ("deeper YAML", "".join(" " * i + "a:\n" for i in range(1000)), "a.yaml"),
            ("deep JSON", '{"a": ' * (most // 12), "a.json"),
            ("deep TOML", "a = " + "[" * most, "a.toml"),
            ("substitutions", "vllm serve " + "$(" * (most // 2), ""),
            ("variables of themselves", "A=$A$A\n" * 30 + "vllm serve $A\n", ""),
            ("a growing variable", "A=xxxxxxxxxx\n" + "A=$A$A$A$A\n" * 40 + "vllm serve $A\n", ""),
            ("quotes without an end", "vllm serve '" + "x" * most, ""),
            ("many words", "vllm serve " + "--x " * (most // 4), ""),
            ("a file", "/etc/passwd", "/etc/passwd"),
            ("a command", "vllm serve `cat /etc/passwd`", ""),
            ("a file to be read in", ". /etc/passwd\nvllm serve x y\n", "")):
        body = json.dumps({"what": [text], "name": name} if name else {"what": [text]})
        begun = time.monotonic()
        found, _, content = ask("POST", API + "/import", body, timeout=30)
        check("import of " + what, found, 400)
        check("import of " + what + " reads nothing", b"root:" in content, False)
        check("import of " + what + f" within {MOST_SECONDS} seconds", time.monotonic() - begun < MOST_SECONDS, True)


def requests():
    check("not HTTP", code(raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")), 400)
    check("no such method", code(raw(b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 1)), 400)
    check("a bare line feed", code(raw(b"GET / HTTP/1.1\r\nHost: localhost\nA: b\r\n\r\n", 1)), 400)
    check("a bare carriage return", code(raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nA: b\rC: d\r\n\r\n", 1)), 400)
    check("two hosts", code(raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 1)), 400)
    check("endless header", code(raw(b"GET / HTTP/1.1\r\nA: " + b"x" * 100000)), 431)
    check("many headers", code(raw(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10000)), 431)
    check("long path", code(raw(b"GET /" + b"x" * 10000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 1)), 414)
    for path in ["/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/%00", "/%ff%fe", "/api",
                 API, API + "/", API + "/train/", API + "/presets/devices/..%2f..%2fh100-sxm",
                 API + "/presets/devices/%2fetc%2fpasswd", API + "/jobs/../train", API + "/jobs/%00"]:
        check("path " + path, status("GET", path), 404)
    for method, path, allowed in [("GET", "/train", "POST"), ("PUT", "/train", "POST"), ("DELETE", "/presets", "GET, HEAD"),
                                  ("PATCH", "/ops", "POST"), ("OPTIONS", "/train", "POST"),
                                  ("POST", "/presets/devices/h100-sxm", "GET, HEAD"),
                                  ("PUT", "/jobs/1", "GET, HEAD, DELETE")]:
        found, headers, _ = ask(method, API + path)
        check(f"{method} {path}", (found, headers["Allow"]), (405, allowed))
    check("HEAD", ask("HEAD", API + "/presets")[::2], (200, b""))
    ranges = ask("GET", API + "/presets", headers={"Range": "bytes=" + ",".join(["0-"] * 1000)})
    check("many ranges", (ranges[0], len(ranges[2]) < 1 << 20), (200, True))


def other_sites():
    for host, expected in [("localhost", 200), (f"127.0.0.1:{port}", 200), (f"[::1]:{port}", 200),
                           ("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421),
                           ("192.168.0.1", 421)]:
        check("host " + host, status("GET", API + "/presets", headers={"Host": host}), expected)
    check("no host", code(raw(b"GET / HTTP/1.1\r\n\r\n", 1)), 421)
    for origin, expected in [("http://evil.example", 403), ("null", 403), (f"http://localhost:{port}", 200)]:
        check("origin " + origin, status("POST", API + "/train", json.dumps(SCENARIO), {"Origin": origin}), expected)


def crowds():
    """A thousand that say nothing, a hundred that say it slowly, fifty that do not listen."""
    held = []
    try:
        for _ in range(1000):
            held.append(socket.create_connection(("127.0.0.1", port), timeout=5))
        beside("a thousand idle connections")
        for i in range(100):
            s = socket.create_connection(("127.0.0.1", port), timeout=5)
            s.sendall(b"POST /api/v1/train HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n" + b" " * 1000 * (i % 9))
            held.append(s)
        beside("slow senders")
        for _ in range(100):
            s = socket.create_connection(("127.0.0.1", port), timeout=5)
            s.sendall(b"POST /api/v1/train HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n" + b" " * 800000)
            held.append(s)
        beside("bodies that do not end")
        for _ in range(200):
            s = socket.create_connection(("127.0.0.1", port), timeout=5)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(f"GET {API}/presets HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 100)
            held.append(s)
        beside("clients that do not listen")
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda _: status("POST", API + "/train", json.dumps(SCENARIO)), range(200)))
        check("sixteen at once", set(found), {200})
        for s in held[::2]:
            s.sendall(b"GET / HT") if s.fileno() % 3 else s.close()
    except OSError as e:
        if not held:
            raise
        print("note:", e)
    finally:
        for s in held:
            s.close()
    check("after the crowd", well(), 200)


def watchers():
    """More watchers of a job than there are places, none of which reads; and every way to ask for nothing."""
    for gpus in (0, -1):
        body = json.dumps({"model": "gpt2", "system": "dgx-a100", "gpus": gpus, "batch": 8})
        check(f"a search over {gpus} devices", status("POST", API + "/search", body), 400)
    endless = {"model": "gpt3-175b", "system": "dgx-a100", "gpus": 64, "max_gpus": 4096, "batch": 30240,
               "explore": ["modules", "offload", "shard"]}
    found, _, said = ask("POST", API + "/search", json.dumps(endless))
    check("a long search", found, 202)
    job = json.loads(said)["id"]
    held = []
    try:
        for _ in range(1400):
            s = socket.create_connection(("127.0.0.1", port), timeout=5)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(f"GET {API}/jobs/{job}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            held.append(s)
        beside("1,400 watchers")
        check("cancelled", status("DELETE", f"{API}/jobs/{job}"), 200)
        check("beside watchers of its end", well(), 200)
    finally:
        for s in held:
            s.close()


def costly():
    """What takes long to compute or to read, asked for from all sides at once."""
    wide = {"model": "gpt3-175b", "system": "dgx-a100", "gpus": 64, "max_gpus": 4096, "batch": 30240,
            "explore": ["modules", "offload", "shard"]}
    crowd = {"model": "llama3.1-8b", "system": "dgx-h100", "requests": 1000000, "arrivals": "closed",
             "concurrency": 1000, "replicas": 64, "router": "least-tokens"}
    for what, path, body in (("searches", "/search", json.dumps(wide)), ("searches at once", "/best", json.dumps(wide)),
                             ("simulations", "/traffic", json.dumps(crowd)), ("deep arrays", "/train", "[" * 900000),
                             ("a path written in another way", "/%74raffic", json.dumps(crowd))):
        over = time.monotonic() + 4

        def keep_asking(_, path=path, body=body, over=over):
            while time.monotonic() < over:
                try:
                    status("POST", API + path, body, timeout=max(0.1, over - time.monotonic()))
                except OSError:
                    pass
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asking = pool.map(keep_asking, range(4))
            time.sleep(0.3)
            beside(what)
            list(asking)


def slow_sender_is_told():
    """One byte a moment does not keep a request alive for ever."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
        s.settimeout(0.05)
        end = time.monotonic() + 1
        s.sendall(b"POST /api/v1/train HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        while time.monotonic() < end:
            s.sendall(b" ")
            time.sleep(0.05)
        check("while one byte comes at a time", well(), 200)


def pipelined():
    one = f"GET {API}/presets/devices/h100-sxm HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    said = raw(one * 99 + last)
    check("a hundred requests in one go", len(re.findall(rb"HTTP/1\.1 200", said)), 100)


# A thousand connections are as many files here.
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096) if hard > 0 else 4096, hard))
other, bystander = start()
server, port = start()
try:
    check("at first", well(), 200)
    for part in (bodies, imports, requests, other_sites, crowds, watchers, costly, slow_sender_is_told, pipelined):
        part()
        check("after " + part.__name__, well(), 200)
        check(f"at most {most_megabytes():.0f} MB by the end of {part.__name__}", most_megabytes() < MOST_MEGABYTES, True)
    check("still running", server.poll(), None)
    ask("POST", API + "/search", json.dumps({"model": "gpt3-175b", "system": "dgx-a100", "gpus": 64, "max_gpus": 4096,
                                             "batch": 30240, "explore": ["modules", "offload", "shard"]}))
    # Beside the search an answer that takes long: it is given up.
    long = socket.create_connection(("127.0.0.1", port))
    body = json.dumps({"model": "llama3.1-8b", "system": "dgx-h100", "requests": 1000000, "arrivals": "closed",
                       "concurrency": 1000, "replicas": 64, "router": "least-tokens"})
    long.sendall(f"POST {API}/traffic HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
    time.sleep(0.3)
    begun = time.monotonic()
    server.send_signal(signal.SIGTERM)
    check("status after SIGTERM beside a search", server.wait(20), 0)
    check("the end soon", time.monotonic() - begun < MOST_SECONDS, True)
    long.close()
    check("said to standard error", server.stderr.read(), "")
finally:
    server.kill()
    other.kill()

# With a request under way, and a client that stays connected.
server, port = start("--verbose")
idle = socket.create_connection(("127.0.0.1", port))
check("verbose", well(), 200)
server.send_signal(signal.SIGINT)
check("status after SIGINT", server.wait(20), 0)
check("a line for each request", server.stderr.read(), "POST /api/v1/train 200\n")
idle.close()

for failure in failures:
    print(failure)
print(f"{checks} checks, {len(failures)} failures")
sys.exit(1 if failures else 0)

# What a module in Python does. Prints "done" where all of it works. argv[1] is a folder to write in.
import asyncio, concurrent.futures, hashlib, json, mmap, multiprocessing, os, random, re, select, shutil, signal
import sqlite3, subprocess, sys, tempfile, threading, time

folder = sys.argv[1]
# Busybox tries to give up other identities, which nobody here has, and goes on when that is refused.
shell = not os.path.realpath("/bin/sh").endswith("busybox")


def program(script, python):
    return ["sh", "-c", script] if shell else [sys.executable, "-I", "-S", "-c", python]


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(len, ["ab"] * 50)) == 100

reading = program("read l; echo $l", "print(input())")
assert subprocess.run(reading, input=b"in\n", capture_output=True).stdout == b"in\n"
assert subprocess.run(program("true", "pass"), close_fds=True, start_new_session=True).returncode == 0
child = os.fork()
if child == 0:
    os._exit(4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4


async def work():
    writing = program("echo out", "print('out')")
    process = await asyncio.create_subprocess_exec(*writing, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    assert out == b"out\n"
    await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(10)))
    assert await asyncio.to_thread(lambda: 5) == 5


asyncio.run(work())

seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.001)
while not seen:
    time.sleep(0.001)

poll = select.epoll()
reader, writer = os.pipe()
poll.register(reader, select.EPOLLIN)
os.write(writer, b"x")
assert poll.poll(60) == [(reader, select.EPOLLIN)]
left, right = multiprocessing.Pipe()
left.send({"a": 1})
assert right.recv() == {"a": 1}

with tempfile.TemporaryDirectory(dir=folder) as inner:
    path = os.path.join(inner, "file")
    with open(path, "w+b") as file:
        file.write(b"text")
        file.flush()
        os.fsync(file.fileno())
        with mmap.mmap(file.fileno(), 4) as mapped:
            assert mapped[:] == b"text"
    shutil.copy2(path, path + "2")
    os.chmod(path, 0o600)
    os.utime(path, (1, 2))
    os.rename(path, path + "3")
    assert sorted(os.listdir(inner)) == ["file2", "file3"]
    assert os.stat(path + "3").st_mtime == 2
    # Actions get no file locks.
    database = sqlite3.connect(f"file:{path}.db?nolock=1", uri=True)
    database.execute("create table t (v)")
    database.execute("insert into t values (7)")
    database.commit()
    assert database.execute("select v from t").fetchall() == [(7,)]
    database.close()

event = threading.Event()
threading.Timer(0.001, event.set).start()
assert event.wait(60)
assert len(os.urandom(8)) == 8 and random.random() < 1 and hashlib.sha256(b"").hexdigest()[:4] == "e3b0"
assert re.match("a+", "aa") and json.loads("[1]") == [1] and sys.stdin is not None and not sys.stdout.isatty()
print("done")

# What a service does with sockets. Prints "done" where all of it works. argv[1] is a folder to write in, the rest the
# families to use: unix, internet.
import asyncio, os, socket, sys

path = os.path.join(sys.argv[1], "socket")


async def answer(reader, writer):
    writer.write(await reader.readexactly(4))
    await writer.drain()
    writer.close()


async def ask(reader, writer):
    writer.write(b"text")
    assert await reader.readexactly(4) == b"text"
    writer.close()


async def unix():
    async with await asyncio.start_unix_server(answer, path):
        await ask(*await asyncio.open_unix_connection(path))
    os.unlink(path)


async def internet():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        await ask(*await asyncio.open_connection(*server.sockets[0].getsockname()))
    assert socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)
    left, right = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    right.bind(("127.0.0.1", 0))
    left.sendto(b"text", right.getsockname())
    assert right.recv(4) == b"text"


for family in sys.argv[2:]:
    asyncio.run({"unix": unix, "internet": internet}[family]())
print("done")

"""Speaks TLS for a server that does not: `tls.py CERTIFICATE KEY PORT`. Prints its own port, then relays until it is ended."""

import socket
import ssl
import sys
import threading


def relay(source, sink):
    """Passes bytes on until one side ends."""
    try:
        while chunk := source.recv(1 << 16):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def main(certificate, key, port):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        try:
            client = context.wrap_socket(client, server_side=True)
        except OSError:
            continue
        server = socket.create_connection(("127.0.0.1", int(port)))
        for pair in ((client, server), (server, client)):
            threading.Thread(target=relay, args=pair, daemon=True).start()


main(*sys.argv[1:])

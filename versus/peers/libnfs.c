/*
 * Random aligned reads of one file through libnfs, as many at once as asked for, from one thread that polls all
 * connections. Each read has a buffer of its own, into which version 2 of the API reads; version 1 leaves the data where
 * libnfs put it. Prints one line of JSON.
 *
 * libnfs SERVER EXPORT FILE CONNECTIONS DEPTH BLOCK_BYTES SECONDS
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <nfsc/libnfs.h>

enum { CONNECTIONS_MAX = 64 };

enum { PAGE_BYTES = 4096 };

struct connection {
    struct nfs_context *nfs;
    struct nfsfh *file;
};

/* A read that is repeated at other places for ever. */
struct lane {
    struct connection *connection;
    void *buffer;
};

static uint64_t blocks, block_bytes;
static uint64_t ops, bytes, errors, in_flight;
static uint64_t state = 0x9e3779b97f4a7c15u;
static int stopping;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* xorshift64 */
static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void issue(struct lane *lane);

static void done(int status, struct nfs_context *nfs, void *data, void *lane)
{
    (void)nfs;
    (void)data;
    in_flight--;
    if (status == (int)block_bytes) {
        ops++;
        bytes += status;
    } else {
        errors++;
        stopping = 1;
    }
    if (!stopping)
        issue(lane);
}

static void issue(struct lane *lane)
{
    struct nfs_context *nfs = lane->connection->nfs;
    struct nfsfh *file = lane->connection->file;
    uint64_t offset = draw() % blocks * block_bytes;
#ifdef LIBNFS_API_V2
    int failed = nfs_pread_async(nfs, file, lane->buffer, block_bytes, offset, done, lane);
#else
    int failed = nfs_pread_async(nfs, file, offset, block_bytes, done, lane);
#endif
    if (failed != 0)
        die("nfs_pread_async", nfs_get_error(nfs));
    in_flight++;
}

static void open_one(struct connection *connection, char **args)
{
    struct nfs_stat_64 stat;
    connection->nfs = nfs_init_context();
    if (connection->nfs == NULL)
        die("nfs_init_context", "no memory");
    if (nfs_mount(connection->nfs, args[1], args[2]) != 0)
        die("nfs_mount", nfs_get_error(connection->nfs));
    if (nfs_open(connection->nfs, args[3], O_RDONLY, &connection->file) != 0)
        die("nfs_open", nfs_get_error(connection->nfs));
    if (nfs_fstat64(connection->nfs, connection->file, &stat) != 0)
        die("nfs_fstat64", nfs_get_error(connection->nfs));
    if (nfs_get_readmax(connection->nfs) < block_bytes)
        die("nfs_get_readmax", "the server reads less at once than a block");
    blocks = stat.nfs_size / block_bytes;
}

static void turn(struct connection *connections, int count)
{
    struct pollfd polled[CONNECTIONS_MAX];
    for (int i = 0; i < count; i++) {
        polled[i].fd = nfs_get_fd(connections[i].nfs);
        polled[i].events = nfs_which_events(connections[i].nfs);
        polled[i].revents = 0;
    }
    if (poll(polled, count, 1000) < 0)
        die("poll", "failed");
    for (int i = 0; i < count; i++)
        if (polled[i].revents != 0 && nfs_service(connections[i].nfs, polled[i].revents) < 0)
            die("nfs_service", nfs_get_error(connections[i].nfs));
}

int main(int argc, char **argv)
{
    struct connection connections[CONNECTIONS_MAX];
    if (argc != 8)
        die(argv[0], "SERVER EXPORT FILE CONNECTIONS DEPTH BLOCK_BYTES SECONDS");
    int count = atoi(argv[4]);
    int depth = atoi(argv[5]);
    block_bytes = strtoull(argv[6], NULL, 10);
    double seconds = atof(argv[7]);
    if (count < 1 || count > CONNECTIONS_MAX || depth < count || block_bytes == 0)
        die(argv[0], "1 to 64 connections, at least as much depth, and blocks");
    for (int i = 0; i < count; i++)
        open_one(&connections[i], argv);
    if (blocks == 0)
        die(argv[3], "smaller than a block");
    struct lane *lanes = calloc(depth, sizeof *lanes);
    for (int i = 0; i < depth; i++) {
        lanes[i].connection = &connections[i % count];
        lanes[i].buffer = aligned_alloc(PAGE_BYTES, (block_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
        if (lanes[i].buffer == NULL)
            die("aligned_alloc", "no memory");
        /* No page of it is touched for the first time while it counts. */
        memset(lanes[i].buffer, 1, block_bytes);
    }
    double begun = now_s();
    for (int i = 0; i < depth; i++)
        issue(&lanes[i]);
    while (!stopping && now_s() - begun < seconds)
        turn(connections, count);
    double window = now_s() - begun;
    uint64_t window_bytes = bytes;
    stopping = 1;
    while (in_flight > 0)
        turn(connections, count);
    printf("{\"ops\":%llu,\"bytes\":%llu,\"window_s\":%.6f,\"errors\":%llu}\n", (unsigned long long)ops,
           (unsigned long long)window_bytes, window, (unsigned long long)errors);
    return errors == 0 ? 0 : 1;
}

/*
 * Calls from threads that have 128 KiB of stack. ADDRESS is where party 0 listens; the current
 * folder has `sum.sym` and `deep.txt`, the value of an input, and takes keys and stores.
 *
 *     small_stack all ADDRESS        two parties in one process call everything
 *     small_stack starved ADDRESS    the system has no memory for threads of the library
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "symbolon.h"

/* Makes a call that must end with this status; the call takes `error`. */
#define ENDS(expected, call)                                                                       \
    do {                                                                                           \
        symbolon_error *error = NULL;                                                              \
        int status = (call);                                                                       \
        if (status != (expected)) {                                                                \
            fprintf(stderr, "%s: %d, %s\n", #call, status,                                         \
                    error ? symbolon_error_text(error) : "no error");                              \
            exit(1);                                                                               \
        }                                                                                          \
        symbolon_error_free(error);                                                                \
    } while (0)
#define OK(call) ENDS(SYMBOLON_STATUS_OK, call)
#define CHECK(holds) OK((holds) ? 0 : -1 - (int)(error != NULL))

struct party {
    uint16_t number;
    const char *key, *other_key, *store, *address;
    unsigned events;
    pthread_mutex_t lock;
};

static void hear(const symbolon_event *event, void *data)
{
    struct party *party = data;
    pthread_mutex_lock(&party->lock);
    party->events += strlen(event->event) > 0;
    pthread_mutex_unlock(&party->lock);
}

static symbolon_config *reach(struct party *party, const char *batch)
{
    symbolon_config *config = NULL;
    symbolon_peer peers[2] = {{NULL, NULL}, {NULL, NULL}};
    char fingerprint[65];

    OK(symbolon_key_fingerprint(party->other_key, &fingerprint, &error));
    peers[0].address = party->address;
    peers[1 - party->number].fingerprint = fingerprint;
    OK(symbolon_config_new(party->number, party->key, NULL, peers, 2, &config, &error));
    OK(symbolon_config_set(config, "timeout", "60", &error));
    OK(symbolon_config_set(config, "protocol", "tinytable", &error));
    OK(symbolon_config_set(config, "batch", batch, &error));
    OK(symbolon_config_on_progress(config, hear, party, &error));
    return config;
}

static symbolon_inputs *inputs(const symbolon_circuit *circuit, uint16_t party)
{
    symbolon_inputs *inputs = NULL;
    char deep[1024] = "";
    FILE *file = fopen("deep.txt", "r");

    CHECK(file != NULL && fread(deep, 1, sizeof deep - 1, file) > 0);
    fclose(file);
    OK(symbolon_inputs_new(circuit, party, &inputs, &error));
    if (party == 0) {
        OK(symbolon_inputs_text(inputs, "x", "[40, 1]", &error));
        OK(symbolon_inputs_text(inputs, "deep", deep, &error));
    } else {
        OK(symbolon_inputs_uint(inputs, "y", 1, &error));
    }
    return inputs;
}

/* Reads the outputs in every way. */
static void read_all(symbolon_outputs *outputs)
{
    uint64_t uint = 0;
    int64_t signed_int = 0;
    size_t count = 0;
    const uint8_t *bits = NULL;
    const char *text = NULL;

    OK(symbolon_outputs_uint(outputs, "sum", &uint, &error));
    OK(symbolon_outputs_int(outputs, "sum", &signed_int, &error));
    CHECK(uint == 42 && signed_int == 42);
    OK(symbolon_outputs_bits(outputs, "sum", &bits, &count, &error));
    CHECK(count == 32 && bits[0] == 0 && bits[1] == 1);
    OK(symbolon_outputs_text(outputs, "sum", &text, &error));
    CHECK(strcmp(text, "42") == 0);
    OK(symbolon_outputs_text(outputs, "echo", &text, &error));
    CHECK(strstr(text, "7}}") != NULL);
    OK(symbolon_outputs_json(outputs, &text, &error));
    CHECK(strstr(text, "\"42\"") != NULL && strstr(text, "\"7\"}}") != NULL);
    symbolon_outputs_free(outputs);
}

/* Text that nests deeply is refused. */
static void nest(const symbolon_circuit *circuit)
{
    enum { DEPTH = 1000000 };
    symbolon_inputs *inputs = NULL;
    char *text = malloc(DEPTH + 1);

    CHECK(text != NULL);
    memset(text, '[', DEPTH);
    text[DEPTH] = 0;
    OK(symbolon_inputs_new(circuit, 0, &inputs, &error));
    ENDS(SYMBOLON_STATUS_USAGE, symbolon_inputs_text(inputs, "x", text, &error));
    memset(text + DEPTH / 2, ']', DEPTH / 2);
    ENDS(SYMBOLON_STATUS_USAGE, symbolon_inputs_text(inputs, "x", text, &error));
    symbolon_inputs_free(inputs);
    free(text);
}

/* Sessions, with one evaluation and with a batch, and what a store has for both. */
static void compute(struct party *party, const symbolon_circuit *circuit,
                    const symbolon_circuit *aes)
{
    symbolon_store *store = NULL;
    const symbolon_inputs *given[2];
    int batch;

    given[0] = given[1] = inputs(circuit, party->number);
    OK(symbolon_store_open(party->store, NULL, &store, &error));
    for (batch = 1; batch <= 2; batch++) {
        symbolon_config *config = reach(party, batch == 1 ? "1" : "2");
        symbolon_session *session = NULL;
        symbolon_outputs *outputs[2] = {NULL, NULL};

        OK(symbolon_prepare(config, store, circuit, 1, &error));
        if (batch == 1)
            OK(symbolon_run_prepared(config, store, circuit, given[0], outputs, &error));
        else
            OK(symbolon_run_prepared_batch(config, store, circuit, given, 2, outputs, &error));
        read_all(outputs[0]);
        symbolon_outputs_free(outputs[1]);
        outputs[1] = NULL;
        OK(symbolon_connect(config, batch == 1 ? aes : circuit, &session, &error));
        if (batch == 1) {
            OK(symbolon_next_circuit(session, circuit, &error));
            OK(symbolon_evaluate(session, given[0], outputs, &error));
        } else {
            OK(symbolon_evaluate_batch(session, given, 2, outputs, &error));
        }
        read_all(outputs[0]);
        symbolon_outputs_free(outputs[1]);
        symbolon_session_free(session);
        symbolon_config_free(config);
    }
    symbolon_store_free(store);
    symbolon_inputs_free((symbolon_inputs *)given[0]);
}

static void *call_all(void *data)
{
    struct party *party = data;
    symbolon_constant width = {"W", "2"};
    symbolon_circuit *circuit = NULL, *aes = NULL;
    symbolon_config *config;
    symbolon_store *store = NULL;

    ENDS(SYMBOLON_STATUS_USAGE, symbolon_circuit_read("sum.sym", &circuit, &error));
    OK(symbolon_circuit_compile("sum.sym", NULL, &width, 1, 2, &circuit, &error));
    OK(symbolon_circuit_builtin("aes128", &aes, &error));
    nest(circuit);
    compute(party, circuit, aes);
    config = reach(party, "1");
    OK(symbolon_config_set(config, "protocol", "wrk", &error));
    OK(symbolon_store_open(party->store, NULL, &store, &error));
    OK(symbolon_preprocess(config, store, 100, 64, &error));
    symbolon_store_free(store);
    symbolon_config_free(config);
    symbolon_circuit_free(aes);
    symbolon_circuit_free(circuit);
    CHECK(party->events > 0);
    return NULL;
}

static void *make_keys(void *data)
{
    (void)data;
    OK(symbolon_key_create("zero.key", &error));
    OK(symbolon_key_create("one.key", &error));
    return NULL;
}

static void *starve(void *data)
{
    struct rlimit before, little;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    symbolon_circuit *circuit = NULL;

    (void)data;
    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    little = before;
    little.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (4 << 20);
    CHECK(setrlimit(RLIMIT_AS, &little) == 0);
    ENDS(SYMBOLON_STATUS_SYSTEM, symbolon_circuit_builtin("add:32", &circuit, &error));
    CHECK(circuit == NULL);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    OK(symbolon_circuit_builtin("add:32", &circuit, &error));
    symbolon_circuit_free(circuit);
    return NULL;
}

static pthread_t start(void *(*work)(void *), void *data)
{
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    CHECK(pthread_create(&thread, &attributes, work, data) == 0);
    pthread_attr_destroy(&attributes);
    return thread;
}

int main(int count, char **args)
{
    if (count == 3 && strcmp(args[1], "starved") == 0) {
        pthread_join(start(starve, NULL), NULL);
    } else if (count == 3) {
        struct party parties[2] = {
            {0, "zero.key", "one.key", "zero.store", args[2], 0, PTHREAD_MUTEX_INITIALIZER},
            {1, "one.key", "zero.key", "one.store", args[2], 0, PTHREAD_MUTEX_INITIALIZER},
        };
        pthread_t threads[2];
        int party;
        pthread_join(start(make_keys, NULL), NULL);
        for (party = 0; party < 2; party++)
            threads[party] = start(call_all, &parties[party]);
        for (party = 0; party < 2; party++)
            pthread_join(threads[party], NULL);
    } else {
        return 2;
    }
    puts("done");
    return 0;
}

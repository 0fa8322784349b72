/*
 * Who is richer? Two processes, on one machine or two, over TLS. docs/c.md shows how to build it.
 *
 *     millionaires key alice.key                       makes a key, prints its fingerprint
 *     millionaires run PARTY KEY ADDRESS PEER WEALTH   party 0 listens at ADDRESS, party 1 dials it
 *     millionaires prepare PARTY KEY ADDRESS PEER STORE
 *     millionaires stored PARTY KEY ADDRESS PEER WEALTH STORE
 *
 * PEER is the fingerprint of the other side's key. WEALTH is a file, as others can see a command
 * line. `prepare` does most of the work before the wealth is known, and `stored` uses it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolon.h"

/* Ends the program with the command's exit code for what went wrong. It takes the place of the
 * error, because C may read an argument before it makes the call that is another one. */
static void check(symbolon_status status, symbolon_error **error)
{
    if (status == SYMBOLON_STATUS_OK)
        return;
    fprintf(stderr, "error: %s (%s)\n", symbolon_error_text(*error), symbolon_error_code(*error));
    symbolon_error_free(*error);
    exit(status);
}

/* Comes from threads of the library. */
static void hear(const symbolon_event *event, void *data)
{
    (void)data;
    if (strcmp(event->event, "work") != 0)
        fprintf(stderr, "%s %s\n", event->event, event->phase ? event->phase : "");
    else
        fprintf(stderr, "%" PRIu64 " of %" PRIu64 " %s\n", event->done, event->total, event->step);
}

static symbolon_config *reach(char **args, uint16_t *party)
{
    symbolon_error *error = NULL;
    symbolon_config *config = NULL;
    symbolon_peer peers[2] = {{NULL, NULL}, {NULL, NULL}};

    *party = (uint16_t)(args[0][0] == '1');
    peers[0].address = args[2];
    peers[1 - *party].fingerprint = args[3];
    check(symbolon_config_new(*party, args[1], NULL, peers, 2, &config, &error), &error);
    check(symbolon_config_set(config, "timeout", "60", &error), &error);
    check(symbolon_config_on_progress(config, hear, NULL, &error), &error);
    return config;
}

static symbolon_inputs *wealth(const symbolon_circuit *circuit, uint16_t party, const char *path)
{
    symbolon_error *error = NULL;
    symbolon_inputs *inputs = NULL;
    uint64_t value = 0;
    FILE *file = fopen(path, "r");

    if (!file || fscanf(file, "%" SCNu64, &value) != 1) {
        fprintf(stderr, "error: cannot read a number from %s\n", path);
        exit(SYMBOLON_STATUS_USAGE);
    }
    fclose(file);
    check(symbolon_inputs_new(circuit, party, &inputs, &error), &error);
    check(symbolon_inputs_uint(inputs, party == 0 ? "x" : "y", value, &error), &error);
    return inputs;
}

static void show(symbolon_outputs *outputs)
{
    symbolon_error *error = NULL;
    uint64_t richer = 0;

    check(symbolon_outputs_uint(outputs, "richer", &richer, &error), &error);
    printf("party 0 is %sricher\n", richer ? "" : "not ");
    symbolon_outputs_free(outputs);
}

int main(int count, char **args)
{
    symbolon_error *error = NULL;
    symbolon_circuit *circuit = NULL;
    symbolon_config *config;
    symbolon_inputs *inputs;
    symbolon_outputs *outputs = NULL;
    uint16_t party;

    if (symbolon_abi_version() != SYMBOLON_ABI_VERSION) {
        fprintf(stderr, "error: symbolon %s does not fit its header\n", symbolon_version());
        return SYMBOLON_STATUS_INTERNAL;
    }
    if (count == 3 && strcmp(args[1], "key") == 0) {
        char fingerprint[65];
        check(symbolon_key_create(args[2], &error), &error);
        check(symbolon_key_fingerprint(args[2], &fingerprint, &error), &error);
        puts(fingerprint);
        return 0;
    }
    if (count < 2 || count != (strcmp(args[1], "stored") == 0 ? 8 : 7)
        || (count == 7 && strcmp(args[1], "run") != 0 && strcmp(args[1], "prepare") != 0)) {
        fprintf(stderr, "key|run|prepare|stored: see the head of millionaires.c\n");
        return SYMBOLON_STATUS_USAGE;
    }
    check(symbolon_circuit_builtin("millionaires:32", &circuit, &error), &error);
    config = reach(args + 2, &party);

    if (strcmp(args[1], "run") == 0) {
        symbolon_session *session = NULL;
        inputs = wealth(circuit, party, args[6]);
        check(symbolon_connect(config, circuit, &session, &error), &error);
        check(symbolon_evaluate(session, inputs, &outputs, &error), &error);
        show(outputs);
        symbolon_session_free(session);
        symbolon_inputs_free(inputs);
    } else {
        symbolon_store *store = NULL;
        check(symbolon_store_open(args[count - 1], NULL, &store, &error), &error);
        if (strcmp(args[1], "prepare") == 0) {
            check(symbolon_prepare(config, store, circuit, 1, &error), &error);
        } else {
            inputs = wealth(circuit, party, args[6]);
            check(symbolon_run_prepared(config, store, circuit, inputs, &outputs, &error), &error);
            show(outputs);
            symbolon_inputs_free(inputs);
        }
        symbolon_store_free(store);
    }
    symbolon_config_free(config);
    symbolon_circuit_free(circuit);
    return 0;
}

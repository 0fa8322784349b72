/*
 * One party of a service over TLS that adds numbers by name. docs/c.md shows how to build it.
 *
 *     service key alice.key                        makes a key, prints its fingerprint
 *     service ask PARTY KEY ADDRESS PEER COUNT     calls COUNT times, and prints the sums
 *     service answer PARTY KEY ADDRESS PEER COUNT  gives 1000 for each call that the other makes
 *
 * Party 0 is dialled at ADDRESS. PEER is the fingerprint of the other side's key.
 */
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

static symbolon_node *start(char **args, uint16_t party, const symbolon_circuit *circuit)
{
    symbolon_error *error = NULL;
    symbolon_config *config = NULL;
    symbolon_node_config *about = NULL;
    symbolon_node *node = NULL;
    symbolon_peer peers[2] = {{NULL, NULL}, {NULL, NULL}};

    peers[0].address = args[2];
    peers[1 - party].fingerprint = args[3];
    check(symbolon_config_new(party, args[1], NULL, peers, 2, &config, &error), &error);
    check(symbolon_node_config_new(config, &about, &error), &error);
    check(symbolon_node_config_add(about, "sum", circuit, config, &error), &error);
    check(symbolon_node_config_set(about, "sum", "side_by_side", "1", &error), &error);
    check(symbolon_node_config_set(about, "sum", "wait", "60", &error), &error);
    check(symbolon_node_start(about, &node, &error), &error);
    symbolon_node_config_free(about);
    symbolon_config_free(config);
    return node;
}

static void call(symbolon_node *node, const symbolon_circuit *circuit, uint16_t party,
                 const char *name, uint64_t number)
{
    symbolon_error *error = NULL;
    symbolon_inputs *inputs = NULL;
    symbolon_call *made = NULL;
    symbolon_outputs *outputs = NULL;
    const uint8_t *sum = NULL;
    size_t size = 0;

    check(symbolon_inputs_new(circuit, party, &inputs, &error), &error);
    check(symbolon_inputs_uint(inputs, party == 0 ? "x" : "y", number, &error), &error);
    check(symbolon_node_call(node, "sum", name, inputs, &made, &error), &error);
    symbolon_inputs_free(inputs);
    /* A second at a time: between two waits a program could do something else. */
    while (outputs == NULL)
        check(symbolon_call_wait(made, 1.0, &outputs, &error), &error);
    check(symbolon_outputs_bytes(outputs, "sum", &sum, &size, &error), &error);
    printf("%s: %u\n", name, size == 2 ? (unsigned)(sum[0] | sum[1] << 8) : 0);
    symbolon_outputs_free(outputs);
    symbolon_call_free(made);
}

int main(int count, char **args)
{
    symbolon_error *error = NULL;
    symbolon_circuit *circuit = NULL;
    symbolon_node *node;
    uint16_t party;
    int asks, number, calls;

    if (count == 3 && strcmp(args[1], "key") == 0) {
        char fingerprint[65];
        check(symbolon_key_create(args[2], &error), &error);
        check(symbolon_key_fingerprint(args[2], &fingerprint, &error), &error);
        puts(fingerprint);
        return 0;
    }
    if (count != 7 || (strcmp(args[1], "ask") != 0 && strcmp(args[1], "answer") != 0)) {
        fprintf(stderr, "key|ask|answer: see the head of service.c\n");
        return SYMBOLON_STATUS_USAGE;
    }
    asks = strcmp(args[1], "ask") == 0;
    party = (uint16_t)(args[2][0] == '1');
    calls = atoi(args[6]);
    check(symbolon_circuit_builtin("add:16", &circuit, &error), &error);
    node = start(args + 2, party, circuit);
    for (number = 0; number < calls; number += 1) {
        char name[65] = "";
        if (asks)
            sprintf(name, "call-%d", number);
        while (name[0] == '\0')
            check(symbolon_node_announced(node, "sum", 60.0, &name, &error), &error);
        call(node, circuit, party, name, asks ? (uint64_t)number : 1000);
    }
    check(symbolon_node_drain(node, &error), &error);
    symbolon_node_free(node);
    symbolon_circuit_free(circuit);
    return 0;
}

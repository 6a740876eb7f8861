/* As decode.py, with rabbitmq-c. */
#include <inttypes.h>
#include <math.h>
#include <amqp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hex(amqp_bytes_t b) {
  for (size_t i = 0; i < b.len; i++) printf("%02x", ((unsigned char *)b.bytes)[i]);
}

static void number(double d) {
  if (isnan(d)) printf("\"n:nan\"");
  else if (isinf(d)) printf("\"n:%sinf\"", d < 0 ? "-" : "");
  else printf("\"n:%.17e\"", d);
}

static void table(amqp_table_t t);

static void plain(amqp_field_value_t v) {
  switch (v.kind) {
    case AMQP_FIELD_KIND_BOOLEAN: printf("\"b:%s\"", v.value.boolean ? "true" : "false"); return;
    case AMQP_FIELD_KIND_I8: printf("\"n:%d\"", v.value.i8); return;
    case AMQP_FIELD_KIND_U8: printf("\"n:%u\"", v.value.u8); return;
    case AMQP_FIELD_KIND_I16: printf("\"n:%d\"", v.value.i16); return;
    case AMQP_FIELD_KIND_U16: printf("\"n:%u\"", v.value.u16); return;
    case AMQP_FIELD_KIND_I32: printf("\"n:%" PRId32 "\"", v.value.i32); return;
    case AMQP_FIELD_KIND_U32: printf("\"n:%" PRIu32 "\"", v.value.u32); return;
    case AMQP_FIELD_KIND_I64: printf("\"n:%" PRId64 "\"", v.value.i64); return;
    case AMQP_FIELD_KIND_U64: printf("\"n:%" PRIu64 "\"", v.value.u64); return;
    case AMQP_FIELD_KIND_TIMESTAMP: printf("\"t:%" PRIu64 "\"", v.value.u64); return;
    case AMQP_FIELD_KIND_F32: number(v.value.f32); return;
    case AMQP_FIELD_KIND_F64: number(v.value.f64); return;
    case AMQP_FIELD_KIND_DECIMAL:
      printf("{\"decimal\":[%" PRIu32 ",%u]}", v.value.decimal.value, v.value.decimal.decimals);
      return;
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES: printf("\"s:"); hex(v.value.bytes); printf("\""); return;
    case AMQP_FIELD_KIND_ARRAY:
      printf("{\"array\":[");
      for (int i = 0; i < v.value.array.num_entries; i++) {
        if (i) printf(",");
        plain(v.value.array.entries[i]);
      }
      printf("]}");
      return;
    case AMQP_FIELD_KIND_TABLE: table(v.value.table); return;
    default: printf("\"null\"");
  }
}

static void table(amqp_table_t t) {
  printf("{\"table\":[");
  for (int i = 0; i < t.num_entries; i++) {
    printf("%s[\"", i ? "," : "");
    hex(t.entries[i].key);
    printf("\",");
    plain(t.entries[i].value);
    printf("]");
  }
  printf("]}");
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  ssize_t n;
  printf("{\"version\":\"%s\"}\n", amqp_version());
  while ((n = getline(&line, &room, stdin)) > 0) {
    amqp_bytes_t b = amqp_bytes_malloc(n / 2 + 1);
    amqp_table_t t;
    amqp_pool_t pool;
    size_t offset = 0;
    b.len = n / 2;
    for (size_t i = 0; i < b.len; i++) sscanf(line + 2 * i, "%2hhx", (unsigned char *)b.bytes + i);
    init_amqp_pool(&pool, 4096);
    int status = amqp_decode_table(b, &pool, &t, &offset);
    if (status < 0) printf("{\"error\":\"%s\"}", amqp_error_string2(status));
    else table(t);
    printf("\n");
    empty_amqp_pool(&pool);
    amqp_bytes_free(b);
  }
  return 0;
}

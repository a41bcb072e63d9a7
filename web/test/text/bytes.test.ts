import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText } from "../../static/src/text/bytes.ts";

void test("a size below 10 of its unit has one decimal", () => {
  const sizes = [0, 1023, 1024, 1536, 10_188, 10_189, 310_000, 2 ** 20 - 1, 2 ** 20, 5000 * 2 ** 40];
  assert.deepEqual(sizes.map(bytesText), [
    "0 B",
    "1023 B",
    "1.0 KiB",
    "1.5 KiB",
    "9.9 KiB",
    "10 KiB",
    "303 KiB",
    "1,024 KiB",
    "1.0 MiB",
    "5,000 TiB",
  ]);
});

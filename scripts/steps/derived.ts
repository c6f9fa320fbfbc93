/** The commands that write derived files. With `--check` they only compare. */
export const DERIVED_FILES = [
  'wrangler types --include-runtime=false --strict-vars=false',
  'node scripts/currencies.ts',
  'node scripts/countries.ts',
  'node scripts/tables.ts',
  'node scripts/generate.ts',
] as const

import { env } from 'cloudflare:workers'
import { putObject } from '../../src/platform/parquet/bucket.ts'

const BYTES = new Uint8Array([...'PAR1 of a test'].map((one) => one.charCodeAt(0)))
const SHA256 = '356921a7c69da41bf1498d037692dab039bcb7113b79c227ce8e682cde13b9ca'

/** The file of `exportRows`. */
export const EXPORT_ID = 'exp_0123456789abcdef01234567'

/** Returns the row of a file of an account's export. */
export const exportRows = (db: D1Database, account: string) => [
  db
    .prepare(
      `insert into exports (account, resource, month, part, id, sha256, bytes, records, sign, sums,
         version, written_at)
       values (?, 'transactions', '2026-10', 1, ?, ?, ?, 1, '', '{"amount_currency":"100.25"}',
         1, 1790931600000)`,
    )
    .bind(account, EXPORT_ID, SHA256, BYTES.byteLength),
]

/** Stores its object. */
export async function storeExport(account: string): Promise<void> {
  const key = `exports/${account}/transactions/2026-10/${SHA256}.parquet`
  await putObject(env.EXPORTS, { key, sha256: SHA256 }, BYTES)
}

import { RATE_SOURCE } from '../../db/commission/rates.ts'
import { ApiError, errorName } from '../../errors.ts'
import { importRates } from './import-rates.ts'
import { parseEcb } from './parse-ecb.ts'
import { isZip, unzip } from './unzip.ts'

/** The limits of a fetched file. */
const TIMEOUT_MS = 30_000
const MAX_BYTES = 6 * 1024 * 1024

/** The number of requests of one run, and the longest wait after the first; it doubles. */
const ATTEMPTS = 3
const WAIT_MS = 5000

/** A retryable failure. */
class FetchFailure extends Error {
  override name = 'FetchFailure'
}

/**
 * Fetches the file of `FX_URL` and imports it, if the variable is set. A file that is not valid, or
 * that differs from stored rates, is refused whole. Logs the outcome and never throws.
 */
export async function fetchRates(env: Env, now: number): Promise<void> {
  if (!env.FX_URL) return
  try {
    const text = await fetchWithRetry(env.FX_URL)
    const { table, issues } = parseEcb(text, new Date().toISOString().slice(0, 10))
    if (issues.total > 0) return logRefusal(issues.listed, issues.total)
    const request = { actor: 'cron', isCorrection: false, now }
    const imported = await importRates(env.DB, table, request)
    console.log(JSON.stringify({ fx_rates: imported }))
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed') {
      const { errors = [], errors_total = 0 } = error.details
      return logRefusal(errors as { pointer: string; code: string }[], errors_total)
    }
    const reason = reasonOf(error)
    console.error(JSON.stringify({ fault: 'fx_rates', source: RATE_SOURCE, reason }))
  }
}

/** Logs why a file was refused: the first issues, without the values of the file. */
function logRefusal(issues: readonly { pointer: string; code: string }[], total: number): void {
  const first = issues.slice(0, 10).map(({ pointer, code }) => ({ pointer, code }))
  const entry = { fault: 'fx_rates', source: RATE_SOURCE, reason: 'refused', errors: first, total }
  console.error(JSON.stringify(entry))
}

async function fetchWithRetry(url: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetchFile(url)
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await scheduler.wait(Math.random() * WAIT_MS * attempt)
    }
  }
}

/** Fetches the text of the file, which may be in a ZIP archive. */
async function fetchFile(url: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { status, body } = await fetch(url, { signal, headers: { Accept: 'text/csv' } })
  if (status !== 200 || !body) {
    await body?.cancel()
    throw new FetchFailure(`status ${status}`)
  }
  const bytes = await readBytes(body)
  const csv = isZip(bytes) ? await readBytes(unzip(bytes)) : bytes
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(csv)
  // A file that was cut within its last rate would have a wrong rate, which nobody would notice.
  if (!text.endsWith('\n')) throw new FetchFailure('no line break at the end')
  return text
}

/** Reads a stream of at most 6 MiB. */
async function readBytes(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > MAX_BYTES) throw new FetchFailure(`more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** Returns what the log may say of a failure: its message may quote what was fetched. */
function reasonOf(error: unknown): string {
  if (error instanceof FetchFailure) return error.message
  return error instanceof ApiError ? error.code : errorName(error)
}

import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { type ExportFile, findFile, listFiles } from '../db/exports/files.ts'
import { findExportRun } from '../db/exports/runs.ts'
import { ApiError } from '../errors.ts'
import { ReadMemory } from '../http/memory.ts'
import { linkNext, PAGE_PARAMETERS, pageMeta, readPage } from '../http/pagination.ts'
import { invalidValue, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { sendJson } from '../http/send.ts'
import { DamagedObject, getObject, type ObjectRange } from '../parquet/bucket.ts'
import { quote } from '../validation/quote.ts'
import { bucketOf, objectOf } from './objects.ts'

/** The paths of the exports of an account, below the path of the account. */
export const EXPORT_PATHS = {
  exports: '/exports',
  export: '/exports/:export_id',
} as const

/** Routes for an account and the integrations team: the files of the account's export. */
export const accountExports = new Hono<AppEnv>()
  .get(EXPORT_PATHS.exports, respondWithFiles)
  .get(EXPORT_PATHS.export, respondWithFile)

const instant = (time: number | null) => (time === null ? null : new Date(time).toISOString())

/** Returns a file as the API lists it. */
export const presentFile = ({ days: _, sign: _sign, ...file }: ExportFile) => ({
  ...file,
  month: file.month || null,
  sums: JSON.parse(file.sums),
  written_at: instant(file.written_at),
})

const FILTERS = ['resource', 'month'] as const
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/

function respondWithFiles(c: Context<AppEnv>): Promise<Response> {
  const { resource, month, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, ...FILTERS)
  if (month !== undefined && !MONTH.test(month)) {
    throw invalidValue('month', month, 'a month such as `2026-10`')
  }
  const filter = {
    ...(resource !== undefined && { resource }),
    ...(month !== undefined && { month }),
  }
  return withReadSession(c, async ({ grant, session }) => {
    const context = JSON.stringify([grant.account, 'exports', filter])
    const page = await readPage(c.env, context, query)
    const [found, run] = await Promise.all([
      listFiles(session, grant.account, filter, page),
      findExportRun(session, grant.account),
    ])
    const exported_at = instant(run?.since ?? null)
    const data = found.data.map(presentFile)
    const meta = pageMeta(page, found, await linkNext(c, context, page, found))
    return sendJson(c, { data, meta, exported_at }, new ReadMemory(grant.account))
  })
}

/**
 * Returns the range that a request asks for. Null for the whole file, also if there is no such range, or if it asks
 * for several (RFC 9110 §14.2).
 */
function readRange(header: string | undefined, bytes: number): ObjectRange | null {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  const offset = from === '' ? Math.max(0, bytes - Number(to)) : Number(from)
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)
  return offset > last ? null : { offset, length: last - offset + 1 }
}

const isUnchanged = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')))

function respondWithFile(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const id = c.req.param('export_id') ?? ''
  return withReadSession(c, async ({ grant, session }) => {
    const file = await findFile(session, grant.account, id)
    if (!file) throw new ApiError('not_found', { detail: `There is no export ${quote(id)}.` })
    const etag = `"${file.sha256}"`
    const headers = {
      ETag: etag,
      'Accept-Ranges': 'bytes',
      'Content-Type': 'application/vnd.apache.parquet',
      'Content-Disposition': `attachment; filename="${nameOf(grant.account, file)}"`,
    }
    if (isUnchanged(c.req.header('If-None-Match'), etag)) return c.body(null, 304, headers)
    return sendObject(c, grant, file, headers)
  })
}

/** Returns the name of a file: one for each account, resource, month and part. */
const nameOf = (account: string, { resource, month, part }: ExportFile) =>
  `${[account, resource, ...(month ? [month] : []), part].join('-')}.parquet`

/** Responds with the bytes of a file, or a range of them. */
async function sendObject(
  c: Context<AppEnv>,
  grant: Grant,
  file: ExportFile,
  headers: Record<string, string>,
): Promise<Response> {
  const ifRange = c.req.header('If-Range')
  const isRanged = ifRange === undefined || ifRange === headers.ETag
  const range = isRanged ? readRange(c.req.header('Range'), file.bytes) : null
  try {
    const known = objectOf(grant.account, file)
    const object = await getObject(bucketOf(c.env, grant), known, range ?? undefined)
    const length = String(range?.length ?? file.bytes)
    const found = { ...headers, 'Content-Length': length }
    if (!range) return c.body(object.body, 200, found)
    const end = range.offset + range.length - 1
    const place = `bytes ${range.offset}-${end}/${file.bytes}`
    return c.body(object.body, 206, { ...found, 'Content-Range': place })
  } catch (error) {
    if (!(error instanceof DamagedObject)) throw error
    console.error(JSON.stringify({ fault: 'damaged_export', account: grant.account, id: file.id }))
    throw new ApiError('unavailable', {
      detail: `The file of the export ${quote(file.id)} is damaged, so it is not sent. The next export that reads every month writes it anew.`,
      headers: { 'Retry-After': '3600' },
      cause: error,
    })
  }
}

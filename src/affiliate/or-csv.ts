import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../auth/authorize.ts'
import { isSafe } from '../auth/roles.ts'
import { csvHeaders, writeCsv } from '../commission/csv.ts'
import { ReadMemory } from '../http/memory.ts'
import { preferredType } from '../http/preferred-type.ts'
import { sendText } from '../http/send.ts'
import { toRows } from './csv-rows.ts'

/** Answers a list of an affiliate as CSV if the request prefers that. `path` is that of the list. */
export const orCsv = (path: string) =>
  createMiddleware<AppEnv>(async function orCsv(c, next) {
    await next()
    const { res } = c
    const isCsv = preferredType(c, ['application/json', 'text/csv']) === 'text/csv'
    if (!isCsv || !res.ok || !isSafe(c.req.method)) return
    const { account } = await c.var.grantPromise
    const headers = csvHeaders(path.replace('/', '-'), account)
    const csv = writeCsv(toRows(path, await res.json()))
    c.res = await sendText(c, csv, headers, new ReadMemory(account))
  })

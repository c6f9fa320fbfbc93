import { withD1Retry } from '../retry.ts'
import type { Delivery } from '../schema.ts'
import type { FoundPage, Page } from './list.ts'

/** What a list shows: the errors of one delivery are up to 64 KiB. */
const LIST_COLUMNS = `id, received_at, resource, form, lenient, dry_run, received, errors_total, rejected,
  refused, held, stale, created, written, held_written`

/** A delivery as a list shows it. */
export type DeliverySummary = Omit<Delivery, 'errors' | 'unknown_keys'>

/** An account's deliveries of one page, newest first, none with an id below `oldest`. */
export async function listDeliveries(
  session: D1DatabaseSession,
  account: string,
  oldest: string,
  { number, size, after }: Page,
): Promise<FoundPage<DeliverySummary>> {
  const [before] = after ?? []
  const offset = after ? 0 : (number - 1) * size
  const [rows, counted] = await withD1Retry(() =>
    session.batch<Record<string, unknown>>([
      session
        .prepare(
          `select ${LIST_COLUMNS} from deliveries where account = ?1 and id >= ?2 and id < ?3
           order by id desc limit ${size + 1} offset ${offset}`,
        )
        .bind(account, oldest, before ?? '~'),
      session
        .prepare('select count(*) as total from deliveries where account = ?1 and id >= ?2')
        .bind(account, oldest),
    ]),
  )
  const found = rows!.results as unknown as DeliverySummary[]
  return {
    data: found.slice(0, size),
    total: Number(counted!.results[0]?.total),
    last: found.length > size ? [found[size - 1]!.id] : null,
  }
}

/** One delivery of an account, if it is not older than `oldest`. */
export const findDelivery = (
  session: D1DatabaseSession,
  account: string,
  oldest: string,
  id: string,
) =>
  withD1Retry(() =>
    session
      .prepare('select * from deliveries where account = ?1 and id = ?2 and id >= ?3')
      .bind(account, id, oldest)
      .first<Delivery>(),
  )

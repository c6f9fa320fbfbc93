import { dayNumber } from '../../platform/db/column-types.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { bindStatement, compileStatement, read } from '../../platform/db/statement.ts'
import { type Facts, FIND_REQUEST, type FoundRequest, toFound } from './find-sql.ts'
import type { Delivery } from './item.ts'
import { statementsOf } from './write-sql.ts'

/** Returns the parameters that all statements of a delivery share. */
export const parametersOf = (delivery: Delivery) => ({
  account: delivery.account,
  delivery: delivery.id,
  resource: delivery.resource,
  received_at: delivery.receivedAt,
  received_day: dayNumber(delivery.receivedDay),
  idempotency_key: delivery.idempotency?.key ?? null,
  quota: delivery.storageQuota,
})

const REQUEST = compileStatement(FIND_REQUEST)

/** Reads what is stored of the records of a delivery, and of what they refer to. */
export async function readFacts(session: D1DatabaseSession, delivery: Delivery): Promise<Facts> {
  const { find, findMissing } = statementsOf(delivery.table)
  const parameters = parametersOf(delivery)
  const sent = delivery.items.flatMap(({ cells }) => (cells ? [cells] : []))
  const references = delivery.items.flatMap(({ cells, first, reference }) =>
    cells || first || reference === null ? [] : [reference],
  )
  const [request, ...lists] = await read<{ found?: string; missing?: string }>(session, [
    bindStatement(session, REQUEST, parameters),
    ...toJsonChunks(sent).map((rows) => bindStatement(session, find, { ...parameters, rows })),
    ...(findMissing && references.length > 0
      ? [
          bindStatement(session, findMissing, {
            ...parameters,
            references: JSON.stringify(references),
          }),
        ]
      : []),
  ])
  const rows = lists.flatMap(({ results }) => results)
  return {
    request: request?.results[0] as unknown as FoundRequest,
    found: rows.flatMap(({ found = '[]' }) => (JSON.parse(found) as unknown[][]).map(toFound)),
    missing: new Set(rows.flatMap(({ missing = '[]' }): string[] => JSON.parse(missing))),
  }
}

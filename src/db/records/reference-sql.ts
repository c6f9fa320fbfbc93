import type { RecordTable } from './record-table.ts'
import { type FromLookup, unionOfChunks } from './sql-fragments.ts'

type Reference = NonNullable<RecordTable['reference']>

/** Lists the unknown references of a request. Each is looked up once, however many records name it. */
export const missingReferences = (
  { table, column }: Reference,
  parameters: readonly string[],
) => `missing(reference) as materialized (
        select value from (${unionOfChunks(parameters)})
        where not exists (
          select 1 from ${table} r where r.account = :account and r.${column} = value)
      ),`

/**
 * Evaluates to 1 if the reference of a record is missing, else to `otherwise`. If no reference of the
 * request is missing, those of the records are not read: that takes most of the time.
 */
export const ifMissing = ({ column }: Reference, fromLookup: FromLookup, otherwise: string) => `iif(
            iif(exists (select 1 from missing), ${fromLookup(column)} in (select reference from missing), 0),
            1, ${otherwise})`

/**
 * Evaluates to 1 if `condition` is true and the stored record is held. The record is read only if
 * `condition` is true: the index of the key has all other columns that the classification needs.
 */
export const wasHeld = (
  { table, key }: RecordTable,
  fromLookup: FromLookup,
  condition: string,
) => `iif(${condition}, ifnull((select h.held from ${table} h
            where h.account = :account and ${key.map((name) => `h.${name} = ${fromLookup(name)}`).join(' and ')}), 0), 0)`

/**
 * Evaluates to 1 if the stored record is still held although its customer is known, because the release
 * is not finished; an invalid record may have no customer. Such a record stays held until the release reaches it, unless it moves.
 */
export const stillHeld = (
  table: RecordTable,
  { column }: Reference,
  fromLookup: FromLookup,
  isSamePlace: string | null,
) =>
  `iif((select releasing from totals where account = :account and resource = :resource) is null, 0,
          ${wasHeld(table, fromLookup, `${fromLookup(column)} is not null and ${isSamePlace ?? 'true'}`)})`

import * as v from 'valibot'
import { verifierFor } from '../../attribution/verdict.ts'
import { expectedSign } from '../../platform/amount-signs.ts'
import type { Table } from '../../platform/db/table.ts'
import {
  countryWarnings,
  lastPlausibleInstant,
  signWarnings,
  timeWarnings,
  usdWarnings,
  whitespaceWarnings,
} from '../../platform/validation/plausibility.ts'
import type { JsonObject } from '../../platform/validation/record-validator.ts'
import { strictObject } from '../../platform/validation/strict-object.ts'
import { currencyWarnings, type Warning, warning } from '../../platform/validation/warnings.ts'
import { bookZoneOf, dayInZone } from '../../platform/zone.ts'
import type { Values } from '../db/item.ts'
import { withoutNulls } from '../db/list.ts'
import { keyColumnsOf, type RecordTable } from '../db/record-table.ts'
import type { Resource } from '../resource/resource.ts'
import { unmappedStatusFinder } from '../resource/unmapped-status.ts'

/** The properties of a partner resource that do not follow from its fields. */
type ResourceOptions = Pick<
  Resource,
  'name' | 'title' | 'hasItemRoute' | 'groups' | 'policy' | 'recordTable'
> & {
  /** The instant whose day filters and totals use, by the account's book zone; null if the key has the day. */
  dayField: string | null
  /** The numeric fields that the control totals sum, in any vertical. */
  summedFields: readonly string[]
}

/** Returns a partner resource. Does not compile unless the fields agree with the columns of the table. */
export function defineResource<Row extends object, const E extends v.ObjectEntries>(
  table: Table<Row>,
  { dayField, summedFields, ...options }: ResourceOptions,
  entries: E & FieldsFitColumns<Row, E>,
): Resource {
  const key = keyColumnsOf(table)
  const { recordTable } = options
  const { reference } = recordTable
  const ids = [...new Set([...key, ...(reference ? [reference.column] : [])])]
  const warn = (record: JsonObject) => warningsOf(record, ids)
  const validator = strictObject(options.title, v.object(entries), key, PERSONAL_FIELDS, warn)
  return {
    ...options,
    fields: entries,
    key,
    loggedKey: key,
    required: [],
    neverRejected: [],
    customerFilter: 'customer_id',
    acceptsIdempotencyKey: false,
    columns: Object.keys(entries),
    present: withoutNulls,
    sums: summedFields.filter((name) => name in entries),
    referenceMember: reference?.column ?? null,
    timeMember: dayField ?? recordTable.dayColumn,
    referenceIssue: { code: REFERENCE_CODES[reference?.table ?? 'customers'] },
    validator: () => validator,
    storing: partnerStoring(recordTable, dayField),
    merge: null,
  }
}

/** The issue code of an unknown reference, by the table that it refers to. */
const REFERENCE_CODES = { customers: 'unknown_customer', affiliates: 'unknown_affiliate' } as const

function warningsOf(record: JsonObject, ids: readonly string[]): Warning[] {
  const warnings = currencyWarnings(record.currency, '/currency')
  for (const name of ids) warnings.push(...whitespaceWarnings(name, record[name]))
  warnings.push(...countryWarnings('country_code', record.country_code), ...usdWarnings(record))
  return warnings
}

/** The columns of a table that hold a field of a partner record. */
type FieldColumns<Row> = {
  [Name in Exclude<keyof Row, OtherColumns>]?: Row[Name] | undefined
}
type OtherColumns =
  | 'account'
  | 'day'
  | 'first_day'
  | 'held'
  | 'delivery'
  | 'idx'
  | 'revision'
  | 'regtime'
  | 'extras'
  | 'verdict'
  | 'link'

type FieldsFitColumns<Row, E extends v.ObjectEntries> = keyof E extends keyof FieldColumns<Row>
  ? v.InferOutput<v.ObjectSchema<E, undefined>> extends FieldColumns<Row>
    ? unknown
    : 'a field disagrees with its column'
  : 'a field has no column'

/** The fields whose values are personal; no message repeats them. */
export const PERSONAL_FIELDS: ReadonlySet<string> = new Set(['first_name', 'last_name', 'email'])

/**
 * Returns the day of an instant in a zone. Where it lies beyond the years of the calendar, this is the
 * day in UTC, the first or last one of the calendar.
 */
export function dayOf(instant: string, zone: string): string {
  const day = instant.slice(0, 10)
  if (zone === 'UTC') return day
  const inZone = dayInZone(zone, Date.parse(instant))
  return /^\d{4}-/.test(inZone) ? inZone : day
}

/** The fields that hold a day or an instant, in any resource. */
const TIMES = ['signup_date', 'last_modified_date', 'transaction_date', 'date']

/**
 * Returns what takes the records of a partner resource. `dayField` holds the instant that a record counts at; it is null if
 * the record has the day itself. The attribution of a customer is what `tracking_data` proves: partners name the paid
 * affiliate themselves, so only a verdict that contradicts them is a warning.
 */
const partnerStoring =
  (recordTable: RecordTable, dayField: string | null): Resource['storing'] =>
  ({ env, grant, receivedAt }) => {
    const zone = bookZoneOf(grant)
    const last = lastPlausibleInstant(receivedAt)
    const isUnmapped = unmappedStatusFinder(grant)
    const verify = recordTable.columns.includes('verdict')
      ? verifierFor(env.TRACKING_KEYS, grant.account)
      : null
    const times = TIMES.filter((name) => recordTable.columns.includes(name))
    const store = (record: JsonObject, warnings: Warning[]): Values => {
      for (const name of times) warnings.push(...timeWarnings(name, record[name], last))
      const { transaction_type: type, amount_currency, status } = record
      if (typeof type === 'string') {
        const sign = expectedSign(type, grant.amount_signs)
        warnings.push(...signWarnings('amount_currency', amount_currency, sign, type))
        if (isUnmapped(status)) warnings.push(warning('unmapped_status', '/status', status))
      }
      return dayField ? { ...record, day: dayOf(String(record[dayField]), zone) } : record
    }
    if (!verify) return (record, _, warnings) => store(record, warnings)
    return async (record, _, warnings) => {
      const values = store(record, warnings)
      const { tracking_data, affiliate_id } = record
      const { verdict, link } = await verify(String(tracking_data), String(affiliate_id))
      if (verdict !== 'attributed' && verdict !== 'unrecognised')
        warnings.push(warning(verdict, '/tracking_data'))
      return { ...values, verdict, link }
    }
  }

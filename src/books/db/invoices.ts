import { bookEntries, IS_NOT_UNDER_WAY } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { first } from '../../platform/db/query.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import type { Account, agreements, invoices } from '../../platform/db/schema.ts'
import { abortAs } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { bookZoneOf, dayInZone } from '../../platform/zone.ts'

// Self-billing (§20.5): the firm writes the invoices of its affiliates. A statement that waits for its invoice gets it in
// the first batch after which nothing is missing: agreement, treatment and settings. So no number is ever taken alone.

/**
 * The condition that a batch has not been committed yet: the last statement of a batch adds its entry to
 * the audit log. A batch whose response was lost is sent again, and must not write twice.
 */
export const IS_FIRST_ATTEMPT = 'not exists (select 1 from audit_log where id = :audit)'

/** The setting `invoicing` of an account, as far as it is set. */
export interface Invoicing {
  readonly series?: string
  readonly vat_id?: string
  /** In percent. */
  readonly rate?: number
  readonly agreement?: { readonly version: string; readonly text: string }
  readonly sample_seen?: boolean
}

/** Returns the setting `invoicing` of an account. */
export const invoicingOf = ({ invoicing }: Pick<Account, 'invoicing'>): Invoicing =>
  JSON.parse(invoicing)

/** Returns the agreement that affiliates of an account are asked for; null until all settings of invoices are there. */
export function offeredAgreement(account: Account) {
  const { series, vat_id, rate, agreement, sample_seen } = invoicingOf(account)
  const isComplete = series && vat_id && rate !== undefined && sample_seen
  return account.self_billing === 'invoice' && isComplete && agreement ? agreement : null
}

/** Returns the condition that a row of `payees`, which SQL names so, is the current version. */
export const isCurrent = (of: string) => `${of}.version = (select max(m.version) from payees m
      where m.account = ${of}.account and m.party = ${of}.party and m.id = ${of}.id)`

/** The details `p` of the affiliate of a statement `s` by which a person has decided how VAT applies. */
const DECIDED = `p.account = s.account and p.party = 'payee' and p.id = s.affiliate_id and ${isCurrent('p')}
    and p.state in ('approved', 'returned') and p.tax ->> 'treatment' is not null`

const IS_DECIDED = `exists (select 1 from payees p where ${DECIDED})`

/** Whether nobody has decided how VAT applies to a statement `s` that waits for its invoice. */
export const LACKS_TREATMENT = `s.awaits_invoice = 1 and not ${IS_DECIDED}`

/** Whether a statement `s` waits for its invoice, and not for the treatment alone. */
export const LACKS_AGREEMENT = `s.awaits_invoice = 1 and (${IS_DECIDED} or not exists (
    select 1 from agreements g
    where g.account = s.account and g.affiliate_id = s.affiliate_id and g.until is null))`

/** The statements that wait for their invoice, and the one whose invoice is taken back. */
const CONCERNED = `
      select w.id from statements w indexed by statements_pending
      where w.account = :account and w.awaits_invoice = 1
      union select i.statement from invoices i where i.account = :account and i.number = :corrected`

/** Returns the SQL of an amount as a whole number of its smallest unit. */
const unitsOf = (amount: string) => `cast(replace(${amount}, '.', '') as integer)`

/** Returns the SQL of how many digits an amount has after the point. */
const digitsOf = (amount: string) =>
  `iif(instr(${amount}, '.') = 0, 0, length(${amount}) - instr(${amount}, '.'))`

/** Returns the SQL of the text of such a number; `scale` units are one of the currency. */
const textOf = (units: string) => `(iif(${units} < 0, '-', '')
      || iif(digits = 0, abs(${units}), printf('%d.%0*d', abs(${units}) / scale, digits, abs(${units}) % scale)))`

/** The lines of an invoice, without those of 0: what each is, its amount, and what it says besides. */
const LINES = `(
      select json_group_array(json_object('kind', kind, 'amount', amount, 'text', text) order by place) from (
        select 0 as place, 'carried' as kind,
          ${textOf(`(${unitsOf("w.statement ->> 'opening'")} - w.received)`)} as amount, null as text
        union all select 1, 'earned', w.statement ->> 'lines_sum', null
        union all select 2, 'adjusted', w.statement ->> 'adjustments_sum', null
        union all select 3 + key, 'manual', value ->> 'amount', value ->> 'reason'
          from json_each(w.statement, '$.manual')
        union all select 1e6 + key, 'transferred', value ->> 'amount', value ->> 'from'
          from json_each(w.statement, '$.received')
      ) where amount glob '*[1-9]*')`

/** The order of invoices of an affiliate: a correction comes first. */
const IN_ORDER = `corrects is null, content ->> 'period', content ->> 'plan'`

/**
 * Writes the invoices of statements that lack nothing, after the correction that takes one back. The firm is named as the
 * first of its payers, as it was approved last. What another plan has transferred is without VAT.
 */
const WRITE = compileStatement(`
  with payer as (
    select id, version from payees where account = :account and party = 'payer'
      and payable_from is not null and state <> 'missing' order by id, version desc limit 1
  ),
  waiting as materialized (
    select s.id, s.affiliate_id, s.plan, s.period, s.statement, s.statement ->> 'payable' as payable,
      p.version, p.tax, p.tax ->> 'treatment' as treatment, g.payee_number, g.version as agreement,
      q.id as payer, q.version as payer_version, ${unitsOf("s.statement ->> 'payable'")} as net_units,
      ifnull((select sum(${unitsOf("value ->> 'amount'")})
        from json_each(s.statement, '$.received')), 0) as received,
      ${digitsOf('s.payable')} as digits
    from (${CONCERNED}) a
    cross join statements s on s.account = :account and s.id = a.id
    cross join payees p on ${DECIDED}
    cross join agreements g on g.account = s.account and g.affiliate_id = s.affiliate_id and g.until is null
    cross join payer q
    where :is_complete = 1 and p.tax ->> 'treatment' <> 'none'
  ),
  scaled as (
    select *, cast('1' || substr('0000', 1, digits) as integer) as scale,
      iif(treatment = 'domestic' and net_units > received,
        ((net_units - received) * :basis_points + 5000) / 10000, 0) as vat_units
    from waiting
  ),
  written as (
    select affiliate_id, payee_number, statement, number as corrects, payee_version, payer, payer_version,
      currency, '-' || net as net, iif(vat glob '*[1-9]*', '-', '') || vat as vat, '-' || total as total,
      json_set(content, '$.taxable', '-' || (content ->> 'taxable'), '$.lines', json_array(
        json_object('kind', 'corrected', 'amount', '-' || net, 'text', number))) as content
    from invoices where account = :account and number = :corrected
    union all
    select affiliate_id, payee_number, id, null, version, payer, payer_version,
      statement ->> 'currency', payable, ${textOf('vat_units')}, ${textOf('(net_units + vat_units)')},
      json_object('plan', plan, 'period', period, 'treatment', treatment,
        'exempt_reason', iif(treatment = 'exempt', tax ->> 'exempt_reason', null),
        'rate', iif(treatment = 'domestic', :rate, null),
        'taxable', iif(treatment = 'domestic', ${textOf('max(net_units - received, 0)')}, null),
        'vat_id', :vat_id, 'agreement', agreement, 'lines', json(${LINES}))
    from scaled w
  ),
  numbered as (
    select w.*, row_number() over (order by affiliate_id, ${IN_ORDER}) as position,
      row_number() over (partition by affiliate_id order by ${IN_ORDER}) + ifnull((
        select max(i.sequence) from invoices i where i.account = :account and i.affiliate_id = w.affiliate_id
          and i.series = :series and i.year = :year), 0) as sequence
    from written w
  )
  insert into invoices (account, id, number, affiliate_id, payee_number, series, year, sequence, statement,
    corrects, issued_on, payee_version, payer, payer_version, currency, net, vat, total, content, actor, at)
  select :account, :audit || '-v' || printf('%05d', position),
    :series || '-' || payee_number || '-' || :year || '-' || printf('%04d', sequence),
    affiliate_id, payee_number, :series, :year, sequence, statement, corrects, :issued_on,
    payee_version, payer, payer_version, currency, net, vat, total, content, :actor, :at
  from numbered`)

/** The invoices `i` of a batch. */
const OF_BATCH = `i.account = :account and i.id > :audit || '-v' and i.id < :audit || '-w'`

const BOOK_VAT = bookEntries(`
  select i.affiliate_id, i.id, 'vat', i.content ->> 'plan', i.content ->> 'period', i.statement, i.currency,
    i.vat, i.number, i.actor, i.at, i.issued_on, i.issued_on
  from invoices i where ${OF_BATCH} and i.vat glob '*[1-9]*' and ${IS_FIRST_ATTEMPT}`)

/** Whether a statement `s` is paid, in whole or in part, and what was paid did not come back. */
const IS_PAID = `(select total(${unitsOf('l.amount')}) from ledger l where l.account = s.account
    and l.affiliate_id = s.affiliate_id and l.statement = s.id and l.kind in ('paid', 'returned')) <> 0`

/** The sum of the invoice of a statement `s` that holds; null if it has none, or its last one is taken back. */
const INVOICED = `(
    select iif(i.corrects is null, i.total, null) from invoices i indexed by invoices_sequence
    where i.account = s.account and i.affiliate_id = s.affiliate_id and i.statement = s.id
    order by i.id desc limit 1)`

/** Lets statements pay the sum of their invoices. They wait for those that are missing, unless none is to be written. */
const SETTLE = compileStatement(`
  update statements as s set payable = ifnull(${INVOICED}, s.statement ->> 'payable'),
    awaits_invoice = :self_billing <> 'off' and ${INVOICED} is null and not exists (
      select 1 from payees p where ${DECIDED} and p.tax ->> 'treatment' = 'none')
  where s.account = :account and s.id in (${CONCERNED}) and s.status = 'approved' and not ${IS_PAID}`)

/** The batch that writes invoices: who makes it, and the id of the entry in the audit log with which it ends. `now` is in milliseconds. */
export interface InvoiceBatch {
  readonly audit: string
  readonly actor: string
  readonly now: number
  /** The number of the invoice that the batch takes back; null: it takes none back. */
  readonly corrected?: string | null
}

function valuesOf(account: Account, { audit, actor, now, corrected = null }: InvoiceBatch) {
  const { series = '', vat_id = '', rate = 0 } = invoicingOf(account)
  const issued_on = dayInZone(bookZoneOf(account), now)
  return {
    account: account.id,
    self_billing: account.self_billing,
    is_complete: offeredAgreement(account) ? 1 : 0,
    series,
    vat_id,
    rate,
    basis_points: Math.round(rate * 100),
    issued_on,
    year: issued_on.slice(0, 4),
    at: new Date(now).toISOString(),
    audit,
    actor,
    corrected,
  }
}

/**
 * Returns the statements that write the invoices which a batch makes possible, behind what it changes. A batch that is sent
 * again writes none twice.
 */
export function writeInvoices(db: D1Database, account: Account, batch: InvoiceBatch) {
  const values = valuesOf(account, batch)
  return [WRITE, BOOK_VAT, SETTLE].map((one) => bindStatement(db, one, values))
}

const ACCEPT = compileStatement(`
  insert into agreements (account, affiliate_id, id, payee_number, version, text, accepted_by, accepted_at)
  select :account, :affiliate_id, :audit, ifnull(
      (select payee_number from agreements where account = :account and affiliate_id = :affiliate_id limit 1),
      ifnull((select max(payee_number) from agreements where account = :account), 0) + 1),
    :version, :text, :actor, :at
  where not exists (select 1 from agreements
    where account = :account and affiliate_id = :affiliate_id and until is null)`)

/** Returns the statements by which an affiliate accepts an agreement, unless one stands, with the invoices that waited for it. */
export const acceptAgreement = (
  db: D1Database,
  account: Account,
  batch: InvoiceBatch,
  accepted: Pick<Agreement, 'affiliate_id' | 'version' | 'text'>,
) => [
  bindStatement(db, ACCEPT, { ...valuesOf(account, batch), ...accepted }),
  ...writeInvoices(db, account, batch),
]

const END_AGREEMENTS = compileStatement(`
  update agreements set until = :at
  where account = :account and affiliate_id in (select value from json_each(:ids)) and until is null`)

/** Returns the statement that ends the agreements of some affiliates, if these stand. */
export const endAgreements = (
  db: D1Database,
  account: string,
  ids: readonly string[],
  now: number,
) =>
  bindStatement(db, END_AGREEMENTS, {
    account,
    ids: JSON.stringify(ids),
    at: new Date(now).toISOString(),
  })

/** An agreement of an affiliate. */
export type Agreement = Omit<typeof agreements.$inferSelect, 'account'>

const FIND_AGREEMENT = compileStatement(`
  select affiliate_id, id, payee_number, version, text, accepted_by, accepted_at, until from agreements
  where account = :account and affiliate_id = :affiliate_id order by id desc limit 1`)

/** Returns the last agreement of an affiliate; null if they accepted none. */
export const findAgreement = (db: Connection, account: string, affiliate_id: string) =>
  first<Agreement>(db, FIND_AGREEMENT, { account, affiliate_id })

/** A stored invoice, with the number of the correction that takes it back; null: none does. */
export type StoredInvoice = Omit<typeof invoices.$inferSelect, 'account'> & {
  readonly corrected_by: string | null
}

const COLUMNS = [
  '*',
  `(select c.number from invoices c
    where c.account = invoices.account and c.corrects = invoices.number) as corrected_by`,
]

const FIND_INVOICE = compileStatement(
  `select ${COLUMNS.join()} from invoices where account = :account and number = :number`,
)

/** Returns the invoice with a number; null if there is none. */
export const findInvoice = (db: Connection, account: string, number: string) =>
  first<StoredInvoice>(db, FIND_INVOICE, { account, number })

/** Reads one page of the invoices of an account, or of an affiliate, the latest first. */
export const listInvoices = (
  db: Parameters<typeof paginate>[0],
  account: string,
  affiliate_id: string | null,
  page: Page,
): Promise<FoundPage<StoredInvoice>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: affiliate_id
        ? 'invoices indexed by invoices_sequence where account = :account and affiliate_id = :affiliate_id'
        : 'invoices where account = :account',
      key: ['id'],
      descending: true,
      values: { account, ...(affiliate_id && { affiliate_id }) },
    },
    page,
  )

const PAID = 'paid or under way'

/** Whether a batch failed because a correction would change what was paid, or is under way. */
export const isOfPaid = (error: unknown) => isAssertionFailure(error, PAID)

/** Aborts the batch if what was paid, or is under way, would no longer be what the statement has to pay. */
const REJECT_PAID = compileStatement(`
  select ${abortAs(PAID)} from statements s
  where s.account = :account and s.id = :statement and (not ${IS_NOT_UNDER_WAY} or ${IS_PAID})
    and (select count(*) <> 2 or sum(${unitsOf('i.vat')}) <> 0
      from invoices i where ${OF_BATCH} and i.statement = s.id)`)

/**
 * Returns the statements that take an invoice back as a whole and write a new one, as soon as nothing is missing. The
 * batch fails if it was taken back before, or if its payment would have to be another one.
 */
export const correctInvoice = (
  db: D1Database,
  account: Account,
  { number, statement }: StoredInvoice,
  batch: InvoiceBatch,
): D1PreparedStatement[] => [
  ...writeInvoices(db, account, { ...batch, corrected: number }),
  bindStatement(db, REJECT_PAID, { account: account.id, audit: batch.audit, statement }),
]

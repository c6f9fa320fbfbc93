import * as v from 'valibot'
import { shownView } from '../affiliates/view-fields.ts'
import { invoicingOf, writeInvoices } from '../books/db/invoices.ts'
import { hasClosedPeriods } from '../commission/db/closings.ts'
import { readStoredPlans } from '../commission/plans/stored-plans.ts'
import { hasFiles } from '../exports/db/files.ts'
import { deleteExportObjects } from '../exports/objects.ts'
import { holdsAny } from '../fraud/db/holds.ts'
import { insertFirstRules } from '../fraud/db/rules.ts'
import { firstRules } from '../fraud/rule-sets.ts'
import { readUsage } from '../ingest/db/storage.ts'
import { requireBuyer } from '../payouts/invoices.ts'
import { journalAccountsOf } from '../payouts/journal-accounts.ts'
import { changeSignUp } from '../people/sign-up.ts'
import type { AmountSigns } from '../platform/amount-signs.ts'
import {
  type AffiliateView,
  DEFAULT_VIEW,
  storedView,
  viewOf,
} from '../platform/auth/affiliate-view.ts'
import { propagateSettings } from '../platform/auth/propagate.ts'
import { type Role, requireRole } from '../platform/auth/roles.ts'
import { databaseBindings, resolveDatabase } from '../platform/db/database.ts'
import { isUniqueViolation, withD1Retry } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { makeSteps, within } from '../platform/db/steps.ts'
import * as rows from '../platform/directory/accounts.ts'
import {
  changesOf,
  hasAskedToLower,
  insertEntry,
  newAuditId,
  withAudit,
} from '../platform/directory/audit.ts'
import { DAY_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import { type Call, list, operation, reply } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { requirePerson } from '../platform/http/two-persons.ts'
import { count, takes_effect, time } from '../platform/validation/answer-fields.ts'
import { canonicalJson } from '../platform/validation/canonical-json.ts'
import { component, described } from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { member, optional, said } from '../platform/validation/fields.ts'
import { quote, quoteAll } from '../platform/validation/quote.ts'
import { bookZoneOf, dayInZone } from '../platform/zone.ts'
import { placeAccount } from './databases.ts'
import { beginReset, RESET_LIMITS, resetStep } from './db/reset.ts'
import { accountChange, newAccount } from './fields.ts'
import { refuseWhileMoving } from './move/moves.ts'

/** Returns an account as the administration API shows it. */
export function presentAccount(stored: Account) {
  const { id, unknown_customer, unknown_affiliate, ...account } = stored
  const { version: _version, pushed: _pushed, pseudonym_key: _key, ...settings } = account
  return {
    account: id,
    ...settings,
    approvals: stored.approvals as 1 | 2,
    policies: { unknown_customer, unknown_affiliate },
    affiliate_view: viewOf(stored),
    invoicing: invoicingOf(stored),
    landing_pages: rows.landingPagesOf(stored),
    journal_accounts: journalAccountsOf(stored),
    sign_up: rows.signUpOf(stored),
    disabled: stored.disabled === 1,
  }
}

interface JsonSettings {
  readonly affiliate_view?: AffiliateView
  readonly landing_pages?: readonly string[] | undefined
  readonly journal_accounts?: object | undefined
  readonly invoicing?: object | undefined
  readonly sign_up?: object | undefined
}

/** Returns settings as they are stored: lists and objects as JSON. */
const storedSettings = <S extends JsonSettings>({
  affiliate_view: view,
  landing_pages: pages,
  journal_accounts: named,
  invoicing,
  sign_up,
  ...others
}: S) => ({
  ...others,
  ...(view && { affiliate_view: storedView(view) }),
  ...(pages && { landing_pages: JSON.stringify(pages) }),
  ...(named && { journal_accounts: JSON.stringify(named) }),
  ...(invoicing && { invoicing: JSON.stringify(invoicing) }),
  ...(sign_up && { sign_up: JSON.stringify(sign_up) }),
})

/**
 * Refuses fields that only approvers may set. Otherwise a manager could lower how many people must approve what is paid,
 * how soon changed bank details are paid, how long former ones are kept, or what VAT is paid, or have personal data written
 * to files.
 */
function requireRoleToSet(role: Role, fields: object): void {
  const names = [
    'approvals',
    'payee_hold_hours',
    'retain_years',
    'self_billing',
    'invoicing',
  ].filter((name) => name in fields)
  if ('exports' in fields && fields.exports === 'with_personal_data') names.push('exports')
  if (names.length > 0) requireRole(role, 'approver', `set ${quoteAll(names)}`)
}

/** The settings by which one person alone cannot pay, with the values that a new live account has without a word. */
const SAFE = { approvals: 2, payee_hold_hours: 72 }

/**
 * Refuses that fewer persons must decide, or that bank details are held for less long, until two have asked for it
 * within a day; and the former while payouts are held: one person alone could otherwise approve, release them, or pay
 * to new bank details at once. The audit log keeps who has asked.
 *
 * @throws ApiError `conflict`, `same_person`
 */
async function admitLower(
  call: Call,
  name: 'approvals' | 'payee_hold_hours',
  value: number | undefined,
) {
  const { env, actor, account, db } = call
  if (value === undefined || value >= account[name]) return
  await requirePerson(call)
  const { id } = account
  const isHeld = name === 'approvals' && (await holdsAny(db, id))
  const entry = { actor, action: `account.${name}.lower`, account: id, details: { [name]: value } }
  if (!isHeld && (await hasAskedToLower(env.DB, entry, { name, value }, Date.now() - DAY_MS)))
    return
  if (!isHeld) {
    await withAudit(env.DB, entry, [])
    throw new ApiError('conflict', {
      detail: `Two persons lower \`${name}\`. Your request is in the audit log: another approver must send the same within 24 hours.`,
    })
  }
  throw new ApiError('conflict', {
    detail:
      'Cases of the fraud review hold payouts, and two persons must decide them. Decide them before one person is enough.',
  })
}

/**
 * Gives a new account the fraud rules with which its vertical starts. Returns the statements that belong to
 * its batch. In another database they are run at once: before the account, so that no account lacks them.
 *
 * @throws ApiError `already_exists`
 */
async function addFirstRules(
  env: Env,
  {
    id,
    vertical,
    binding,
    created_at,
  }: Pick<Account, 'id' | 'vertical' | 'binding' | 'created_at'>,
  zone: string,
): Promise<D1PreparedStatement[]> {
  const effective_from = dayInZone(zone, Date.parse(created_at))
  const db = resolveDatabase(env, binding)
  const values = { account: id, effective_from, created_at }
  const rules = Object.entries(firstRules(vertical, effective_from))
  const texts = rules.map(([rule, terms]) => [rule, canonicalJson(terms)] as const)
  const statements = insertFirstRules(db, values, texts)
  if (binding === 'DB') return statements
  if (await rows.findAccount(env.DB, id)) throw alreadyExists(id)
  await withD1Retry(() => db.batch(statements))
  return []
}

const alreadyExists = (id: string, cause?: unknown) =>
  new ApiError('already_exists', { detail: `There is already an account ${quote(id)}.`, cause })

/** Throws `validation_failed` if this deployment has no such binding. */
function refuseUnknownBinding(env: Env, name: string | undefined): void {
  const bindings = databaseBindings(env)
  if (name === undefined || bindings.includes(name)) return
  throw validationFailed([
    { pointer: '/binding', code: 'enum', value: name, expected: bindings.join(', ') },
  ])
}

/**
 * Refuses other signs of amounts while a period is closed: they would change what was approved.
 *
 * @throws ApiError `conflict`
 */
async function admitAmountSigns({ account, db }: Call, signs: AmountSigns): Promise<void> {
  if (signs === account.amount_signs) return
  if (!(await hasClosedPeriods(db, account.id))) return
  throw new ApiError('conflict', {
    detail:
      'The account has closed periods, whose statements were computed with the present signs of amounts. `amount_signs` can change only while no period is closed.',
  })
}

/** Throws `validation_failed` if a new account has a book zone and is a brand's. */
function refuseBookZoneOfBrand(
  vertical: string,
  { book_zone }: { book_zone?: string | undefined },
) {
  if (vertical !== 'igaming' || book_zone === undefined) return
  const expected = 'it is for partners, and the days of a brand are those of its `time_zone`'
  throw validationFailed([{ pointer: '/book_zone', code: 'not_applicable', expected }])
}

/** Returns the ids of the plans of an account. */
const plansOf = async ({ db, account }: Call) =>
  (await readStoredPlans(db, account.id)).versions.map(({ plan }) => plan)

const s = accountChange

/** The settings that an account itself is shown, too. */
export const settingsShown = described(() => ({
  account: newAccount.account,
  name: newAccount.name,
  vertical: newAccount.vertical,
  mode: newAccount.mode.wrapped,
  time_zone: s.time_zone.wrapped,
  book_zone: newAccount.book_zone.wrapped,
  amount_signs: s.amount_signs.wrapped,
  policies: v.object({
    unknown_customer: s.unknown_customer.wrapped,
    unknown_affiliate: s.unknown_affiliate.wrapped,
  }),
}))

const shown = described(() => ({
  ...settingsShown,
  binding: member(v.string(), 'The D1 binding of the database that stores the records.'),
  jurisdiction: newAccount.jurisdiction.wrapped,
  storage_quota: s.storage_quota.wrapped,
  approvals: s.approvals.wrapped,
  payee_hold_hours: s.payee_hold_hours.wrapped,
  retain_years: s.retain_years.wrapped,
  self_billing: s.self_billing.wrapped,
  invoicing: s.invoicing.wrapped,
  exports: s.exports.wrapped,
  affiliate_view: member(shownView, 'What affiliates see.'),
  landing_pages: s.landing_pages.wrapped,
  journal_accounts: s.journal_accounts.wrapped,
  sign_up: s.sign_up.wrapped,
  mail_name: s.mail_name.wrapped,
  reply_to: s.reply_to.wrapped,
  disabled: s.disabled.wrapped,
  created_at: time,
}))

const ofAccount = { topic: 'accounts', path: '' } as const

export const createAccount = operation({
  of: 'team',
  id: 'createAccount',
  shows: 'firm',
  topic: 'accounts',
  method: 'POST',
  path: '/accounts',
  role: 'manager',
  body: {
    ...newAccount,
    binding: optional(
      f.text,
      said('The D1 binding of the database that stores the records. Defaults to `DB`.'),
    ),
  },
  status: 201,
  words: described(() => ({
    description: 'Creates an account for a partner or a brand.',
    answer: component('CreatedAccount', () => shown),
    errors: ['already_exists'],
    command: {
      name: 'accounts create',
      argument: 'account',
      recovery: 'Repeat the command. If the account was created, the response is that it exists.',
    },
  })),
  async run({ env, actor, role }, fields) {
    requireRoleToSet(role, fields)
    refuseUnknownBinding(env, fields.binding)
    refuseBookZoneOfBrand(fields.vertical, fields)
    changeSignUp(rows.NO_SIGN_UP, fields.sign_up ?? {}, [])
    const { account: id, affiliate_view, ...settings } = fields
    const { vertical, mode = 'live', jurisdiction = null } = fields
    const binding = fields.binding ?? (await placeAccount(env, jurisdiction))
    const account = {
      ...storedSettings({
        ...settings,
        ...(affiliate_view && { affiliate_view: { ...DEFAULT_VIEW, ...affiliate_view } }),
      }),
      id,
      mode,
      binding,
      created_at: new Date().toISOString(),
      unknown_customer: fields.unknown_customer ?? (vertical === 'igaming' ? 'hold' : 'reject'),
    }
    const { time_zone = 'UTC', book_zone = 'UTC' } = fields
    const entry = { actor, action: 'account.create', account: id, details: fields }
    const begun = { approvals: 1, payee_hold_hours: SAFE.payee_hold_hours, ...fields }
    const low = Object.entries(SAFE).flatMap(([name, safe]) =>
      mode === 'live' && Reflect.get(begun, name) < safe
        ? [insertEntry(env.DB, { ...entry, action: `account.${name}.lower` })]
        : [],
    )
    try {
      const zone = bookZoneOf({ vertical, time_zone, book_zone })
      const rules = await addFirstRules(env, account, zone)
      await withAudit(env.DB, entry, [rows.insertAccount(env.DB, account), ...rules, ...low])
    } catch (error) {
      throw isUniqueViolation(error) ? alreadyExists(id, error) : error
    }
    const stored = await rows.findAccount(env.DB, id)
    if (!stored) throw notFound('account', id)
    return presentAccount(stored)
  },
})

export const listAccounts = list({
  of: 'team',
  id: 'listAccounts',
  shows: 'public',
  topic: 'accounts',
  path: '/accounts',
  words: described(() => ({
    description: 'Lists all accounts, ordered by id.',
    answer: component('Account', () => shown),
    command: {
      name: 'accounts list',
      columns: [
        'account',
        'name',
        'vertical',
        'mode',
        'time_zone',
        'binding',
        'policies.unknown_customer',
        'policies.unknown_affiliate',
        'storage_quota',
        'approvals',
        'disabled',
        'created_at',
      ],
    },
  })),
  async list({ env }, _, page) {
    const found = await rows.listAccounts(env.DB, page)
    return { ...found, data: found.data.map(presentAccount) }
  },
})

export const getAccount = operation({
  ...ofAccount,
  id: 'getAccount',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Returns an account with its settings and the bytes that it stores.',
    answer: component('AccountWithStorage', () => ({
      ...shown,
      storage_bytes: member(count, 'About how many bytes the records of the account take.'),
    })),
    command: { name: 'accounts get' },
  })),
  async run({ db, account }) {
    return { ...presentAccount(account), storage_bytes: await readUsage(db, account.id) }
  },
})

export const changeAccount = operation({
  ...ofAccount,
  id: 'changeAccount',
  shows: 'account',
  method: 'PATCH',
  role: 'manager',
  body: accountChange,
  words: described(() => ({
    description:
      'Changes the name, the time zone or the policies, or disables the account. Omitted members keep their values. Changed policies apply to later requests. `amount_signs` can change only while no period is closed (409).',
    answer: component('ChangedAccount', () => ({ ...shown, takes_effect })),
    errors: ['conflict', 'same_person'],
    command: { name: 'accounts change' },
  })),
  async run(call, sent) {
    const { env, actor, role, account, db } = call
    const { id } = account
    const { affiliate_view: view, journal_accounts: named, invoicing, sign_up, ...fields } = sent
    const whole = {
      ...fields,
      ...(view && { affiliate_view: { ...viewOf(account), ...view } }),
      ...(named && { journal_accounts: { ...journalAccountsOf(account), ...named } }),
      ...(invoicing && { invoicing: { ...invoicingOf(account), ...invoicing } }),
      ...(sign_up && {
        sign_up: changeSignUp(rows.signUpOf(account), sign_up, await plansOf(call)),
      }),
    }
    const change = storedSettings(whole)
    requireRoleToSet(role, change)
    await admitLower(call, 'approvals', change.approvals)
    await admitLower(call, 'payee_hold_hours', change.payee_hold_hours)
    if (change.self_billing === 'invoice') await requireBuyer(call)
    if (change.amount_signs !== undefined) await admitAmountSigns(call, change.amount_signs)
    const { policies, ...settings } = presentAccount(account)
    const details = { changes: changesOf({ ...settings, ...policies }, whole) }
    const entry = { actor, action: 'account.change', account: id, details }
    // An empty change is not in the audit log, but it still propagates the settings.
    if (Object.keys(change).length > 0) {
      await withAudit(env.DB, entry, rows.updateAccount(env.DB, account, change))
    }
    const takes_effect = await propagateSettings(env, id)
    const changed = (await rows.findAccount(env.DB, id)) ?? account
    if (change.self_billing || invoicing) {
      const batch = { audit: newAuditId(), actor, now: Date.now() }
      const written = { actor, action: 'invoices.write', account: id, details: {} }
      await withAudit(db, written, writeInvoices(db, changed, batch), batch.audit)
    }
    return { ...presentAccount(changed), takes_effect }
  },
})

export const resetAccount = operation({
  id: 'resetAccount',
  shows: 'account',
  topic: 'accounts',
  path: '/reset',
  method: 'POST',
  role: 'manager',
  words: described(() => ({
    description:
      'Deletes what a test account has sent and what was computed from it: records, histories of customers, deliveries, clicks, webhooks, statements, manual entries, payments, the ledger, fraud rules and cases. Credentials, settings, affiliates, links, plans, assignments and erasures stay. The account accepts no deliveries until everything is deleted.',
    answer: null,
    others: { 202: v.object({ resetting: v.literal(true) }) },
    account: 'test_account',
    errors: ['conflict'],
    command: {
      name: 'accounts reset',
      done: 'Deleted all records of account {account}.',
      confirm: {
        warning: 'This deletes all records of account {account} permanently.',
        name: 'account',
      },
    },
  })),
  async run({ env, actor, account, db }) {
    const { id, mode } = account
    if (mode !== 'test') {
      throw new ApiError('conflict', { detail: 'Only the data of a test account can be reset.' })
    }
    await refuseWhileMoving(env, id)
    const entry = { actor, action: 'account.reset', account: id, details: {} }
    const budget = within(RESET_LIMITS.resetMs)
    // First: if R2 fails, nothing is begun.
    if (account.exports !== 'off' || (await hasFiles(db, id)))
      await deleteExportObjects(env, account)
    await withAudit(db, entry, [beginReset(db, id)])
    const isDone = await makeSteps([resetStep(db, id)], budget)
    // A cron goes on with what is left.
    return isDone ? null : reply(202, { resetting: true })
  },
})

/** The operations on accounts. An account is one partner firm or one brand. */
export const ACCOUNT_OPERATIONS = [
  createAccount,
  listAccounts,
  getAccount,
  changeAccount,
  resetAccount,
]

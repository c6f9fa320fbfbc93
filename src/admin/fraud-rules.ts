import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { requireRole } from '../auth/roles.ts'
import { resolveDatabase } from '../db/database.ts'
import { unconfiguredAmong } from '../db/directory/affiliates.ts'
import { hasAuditEntry, newAuditId, withAudit } from '../db/directory/audit.ts'
import {
  findRuleVersion,
  insertRuleVersion,
  listRuleVersions,
  pageRuleVersions,
  type RuleHead,
  readNamedVersions,
  readRuleVersions,
  replaceRuleFrom,
  withdrawRuleVersion,
} from '../db/fraud/rules.ts'
import { isAssertionFailure, isUniqueViolation } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { namedInScope, warnOfUnknownAffiliates } from '../fraud/check-rule.ts'
import { decideDisable, decidePut } from '../fraud/put-rule.ts'
import { RULE_DEPTH } from '../fraud/rules.ts'
import { parseRuleVersion, ruleOn } from '../fraud/stored-rules.ts'
import { fraudRuleWords } from '../fraud/words.ts'
import { readQuery } from '../http/query.ts'
import { notFound, readJson, validationFailed } from '../http/read-fields.ts'
import { todayOf } from '../zone.ts'
import { findRouteAccount } from './accounts.ts'
import { slug } from './fields.ts'
import { respondWithList } from './list-route.ts'
import { readVersionNumber } from './plans.ts'

/** The attempts to store a version while others are stored at the same time. */
const MAX_ATTEMPTS = 4

/** Routes for the fraud rules of an account. A version of a rule never changes. */
export const fraudRules = new Hono<AppEnv>()
  .get('/', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const db = resolveDatabase(c.env, account.binding)
    const heads = await listRuleVersions(db, account.id, null)
    const byRule = Map.groupBy(heads, ({ rule }) => rule)
    const today = todayOf(account)
    const shown = [...byRule.values()].map((versions) => shownVersion(versions, today))
    const named = shown.map(({ rule, version }) => [rule, version] as const)
    const terms = new Map(
      (await readNamedVersions(db, account.id, named)).map((one) => [one.rule, one]),
    )
    const data = shown.map(({ rule, effective_from }) => {
      const stored = terms.get(rule)
      const words = stored ? fraudRuleWords(parseRuleVersion(stored).terms) : null
      const head = presentRule(byRule.get(rule) ?? [], today)
      return { ...head, effective_from, words: words ? [words.opens, ...words.limits] : [] }
    })
    return c.json({ data })
  })

  .get('/:rule', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const rule = c.req.param('rule')
    const heads = await listRuleVersions(resolveDatabase(c.env, account.binding), account.id, rule)
    if (heads.length === 0) throw notFound('fraud rule', rule)
    return c.json({ ...presentRule(heads, todayOf(account)), versions: heads.map(presentHead) })
  })

  .put('/:rule', async (c) => {
    const after = readVersionNumber(readQuery(c.req.url, 'after').after)
    const account = await findRouteAccount(c)
    const rule = c.req.param('rule')
    if (!v.is(slug, rule)) {
      const expected = '1 to 63 characters of a-z, 0-9 and `-`'
      throw validationFailed([{ pointer: '', code: 'pattern', expected, value: rule }])
    }
    const body = await readJson(c, RULE_DEPTH)
    const { outcome, version, rule: checked } = await putRule(c, account, rule, body, after)
    const { effective_from } = checked.terms
    const status = outcome === 'created' ? 201 : 200
    const unconfigured = await unconfiguredAmong(
      resolveDatabase(c.env, account.binding),
      account.id,
      namedInScope(checked.terms.scope),
    )
    const unknown = warnOfUnknownAffiliates(checked.terms, unconfigured)
    const warnings = [...checked.warnings, ...unknown]
    return c.json({ rule, version, effective_from, outcome, warnings }, status)
  })

  .delete('/:rule', async (c) => {
    readQuery(c.req.url)
    await disableRule(c, await findRouteAccount(c), c.req.param('rule'))
    return c.body(null, 204)
  })

  .get('/:rule/versions', (c) => {
    const rule = c.req.param('rule')
    return respondWithList(c, `versions of the fraud rule ${rule}`, async ({ id }, page, db) => {
      const found = await pageRuleVersions(db, id, rule, page)
      return { ...found, data: found.data.map(presentVersion) }
    })
  })

  .get('/:rule/versions/:version', async (c) => {
    readQuery(c.req.url)
    const { row } = await findRouteVersion(c)
    return c.json(presentVersion(row))
  })

  .delete('/:rule/versions/:version', async (c) => {
    readQuery(c.req.url)
    const { account, row } = await findRouteVersion(c)
    if (row.withdrawn_at === null) await withdraw(c, account, row)
    return c.body(null, 204)
  })

/** Stores what is decided. Decides again if another version is stored at the same time. */
async function putRule(
  c: Context<AppEnv>,
  account: Account,
  rule: string,
  body: unknown,
  after: number | null,
) {
  const { id, vertical } = account
  const db = resolveDatabase(c.env, account.binding)
  for (let attempt = 1; ; attempt++) {
    const context = { vertical, today: todayOf(account), after }
    const decision = decidePut(rule, body, await readRuleVersions(db, id, rule), context)
    if (decision.outcome === 'invalid') throw validationFailed(decision.issues)
    if (decision.outcome === 'refused') throw new ApiError('conflict', { detail: decision.detail })
    if (decision.outcome === 'unchanged') return decision
    if (decision.needsApprover) requireRole(c.var.role, 'approver')
    const { version } = decision
    const { terms, text } = decision.rule
    const { effective_from, name, action, disabled } = terms
    const details = { rule, version, effective_from, name, action, disabled }
    const entry = { actor: c.var.actor, action: 'fraud-rule.put', account: id, details }
    const created_at = new Date().toISOString()
    const row = { account: id, rule, version, effective_from, terms: text, created_at }
    const auditId = newAuditId()
    try {
      await withAudit(db, entry, [insertRuleVersion(db, row)], auditId)
      return decision
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // An earlier attempt of this batch may have succeeded although its response was lost.
      if (await hasAuditEntry(db, auditId)) return decision
      if (attempt === MAX_ATTEMPTS) throw busy(rule, error)
    }
  }
}

const busy = (rule: string, cause: unknown) =>
  new ApiError('conflict', {
    detail: `The fraud rule ${rule} was changed at the same time. Repeat the request.`,
    cause,
  })

/** Disables a rule from today on, unless it is disabled. */
async function disableRule(c: Context<AppEnv>, account: Account, rule: string): Promise<void> {
  const { id } = account
  const db = resolveDatabase(c.env, account.binding)
  const { versions, last } = await readRuleVersions(db, id, rule)
  if (last === 0) throw notFound('fraud rule', rule)
  const decision = decideDisable(rule, versions, todayOf(account))
  if (!decision) return
  const { from, terms, needsApprover } = decision
  if (needsApprover) requireRole(c.var.role, 'approver')
  const details = { rule, from }
  const entry = { actor: c.var.actor, action: 'fraud-rule.disable', account: id, details }
  const audit = newAuditId()
  const values = { account: id, rule, from, now: new Date().toISOString(), audit }
  await withAudit(db, entry, replaceRuleFrom(db, values, terms), audit)
}

/** Withdraws a version that did not begin before today. */
async function withdraw(
  c: Context<AppEnv>,
  account: Account,
  row: NonNullable<Awaited<ReturnType<typeof findRuleVersion>>>,
): Promise<void> {
  const { rule, version, effective_from } = row
  const db = resolveDatabase(c.env, account.binding)
  // Without the version an earlier one applies, so that one of them may hold.
  const { versions } = await readRuleVersions(db, account.id, rule)
  const own = versions.filter((one) => one.rule === rule).map(parseRuleVersion)
  if (own.some(({ terms }) => terms.action === 'hold')) requireRole(c.var.role, 'approver')
  const key = { account: account.id, rule, version }
  const withdrawn_at = new Date().toISOString()
  const statements = withdrawRuleVersion(db, { ...key, today: todayOf(account), withdrawn_at })
  const details = { rule, version, effective_from }
  const entry = { actor: c.var.actor, action: 'fraud-rule.withdraw', account: account.id, details }
  await withAudit(db, entry, statements).catch((error) => {
    throw isAssertionFailure(error) ? inForce(error) : error
  })
}

const inForce = (cause: unknown) =>
  new ApiError('conflict', {
    detail:
      'The version began before today, so it stays. Put a new version, or disable the rule from today on with `DELETE …/fraud-rules/{rule}`.',
    cause,
  })

/** Returns the account and the version that the path names. */
async function findRouteVersion(c: Context<AppEnv>) {
  const account = await findRouteAccount(c)
  const rule = c.req.param('rule') ?? ''
  const text = c.req.param('version') ?? ''
  const version = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null
  const db = resolveDatabase(c.env, account.binding)
  const row = version && (await findRuleVersion(db, account.id, rule, version))
  if (!row) throw notFound('version', `${rule}/${text}`)
  return { account, row }
}

/** Returns a version as its rule lists it, without its scope and parameters. */
const presentHead = ({ rule: _, kind: _kind, disabled, ...head }: RuleHead) => ({
  ...head,
  disabled: disabled === 1,
})

/** Returns a version with its terms. */
const presentVersion = ({
  terms,
  ...row
}: NonNullable<Awaited<ReturnType<typeof findRuleVersion>>>) => {
  const { rule, version, effective_from, created_at, withdrawn_at } = row
  return { rule, version, effective_from, terms: JSON.parse(terms), created_at, withdrawn_at }
}

/** Returns the versions of a rule that are not withdrawn, by first day. */
const keptVersions = (heads: readonly RuleHead[]): RuleHead[] =>
  heads
    .filter(({ withdrawn_at }) => withdrawn_at === null)
    .sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1))

/** Returns the version of a rule that stands for it: that in force, else the first one, else the last withdrawn one. */
function shownVersion(heads: readonly RuleHead[], today: string): RuleHead {
  const kept = keptVersions(heads)
  return ruleOn(kept, today) ?? kept[0] ?? heads.at(-1)!
}

/** Returns a rule as lists show it; `heads` are all its versions, by number. */
function presentRule(heads: readonly RuleHead[], today: string) {
  const { rule, name, kind, severity, action, disabled } = shownVersion(heads, today)
  return {
    ...{ rule, name, kind, severity, action, disabled: disabled === 1 },
    in_force: ruleOn(keptVersions(heads), today)?.version ?? null,
  }
}

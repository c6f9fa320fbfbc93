import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { findCustomersOf } from '../src/db/commission/customers-of.ts'
import * as affiliations from '../src/db/commission/histories.ts'
import * as histories from '../src/db/commission/histories.ts'
import * as parents from '../src/db/commission/histories.ts'
import * as assignments from '../src/db/commission/plans.ts'
import * as plans from '../src/db/commission/plans.ts'
import * as rates from '../src/db/commission/rates.ts'
import { loadRates } from '../src/db/commission/rates.ts'
import * as refusals from '../src/db/commission/refusals.ts'
import * as accounts from '../src/db/directory/accounts.ts'
import * as keys from '../src/db/directory/affiliate-keys.ts'
import * as affiliates from '../src/db/directory/affiliates.ts'
import * as tree from '../src/db/directory/affiliates.ts'
import * as attribution from '../src/db/directory/attribution.ts'
import * as audit from '../src/db/directory/audit.ts'
import * as clicks from '../src/db/directory/clicks.ts'
import * as clients from '../src/db/directory/credentials.ts'
import * as credentials from '../src/db/directory/credentials.ts'
import * as expiring from '../src/db/directory/credentials.ts'
import * as definitions from '../src/db/directory/event-definitions.ts'
import * as links from '../src/db/directory/links.ts'
import * as statusMaps from '../src/db/directory/status-maps.ts'
import * as fraud from '../src/db/fraud/rules.ts'
import * as activities from '../src/db/records/erasure.ts'
import * as erasure from '../src/db/records/erasure.ts'
import { finishReleases } from '../src/db/records/release.ts'
import { beginReset, finishResets } from '../src/db/records/reset.ts'
import { planFaults, queryPlan } from './query-plan.ts'

/** A database that records the SQL that it prepares, and has no rows. */
function recorder() {
  const texts: string[] = []
  const statement = {
    bind: () => statement,
    all: async () => ({ results: [] }),
    first: async () => null,
    run: async () => ({}),
  }
  const db = {
    prepare: (text: string) => {
      texts.push(text)
      return statement
    },
    batch: async (list: unknown[]) => list.map(() => ({ results: [] })),
  }
  return { db: db as unknown as D1Database & D1DatabaseSession, texts }
}

const page = { number: 2, size: 10, after: null }
const ownLink = { account: 'a', affiliate_id: 'x', link_id: 'x' }
const next = { number: 1, size: 10, after: ['x'] }
const entry = { actor: 'x', action: 'x', account: 'a', details: {} }
const affiliate = [{ affiliate_id: 'x' }]
const definition = {
  eventname: 'x',
  granularity: 'day',
  eventid: 'used',
  kpis: [],
  product: null,
  currency: null,
  outflow: false,
  status_member: null,
} as const
const assigned = {
  affiliate_id: 'x',
  from_day: '2026-12-01',
  plan: 'p',
  customers: 'new',
} as const
const click = { account: 'a', link_id: 'x', click_id: 'x', clicked_at: 0, subs: {} }

const ratePart = rates.importParts({
  currencies: ['USD'],
  days: [{ day: '2026-10-01', rates: ['1.1'] }],
})

const scope = { isBrand: true, isRepeated: false }

const refusal = { from: null, reason: 'x', refused_at: 'x' }
const october = { account: 'a', from: '2026-10-01', to: '2026-10-31' }
const changed = { phase: 'changed', customer_id: '' } as const

type Call = (db: D1Database & D1DatabaseSession) => unknown

/** Statements that follow primary keys, and those that must use an index. */
const CALLS: [name: string, call: Call, indexes?: string[]][] = [
  ['findAccount', (db) => accounts.findAccount(db, 'a')],
  ['updateAccount', (db) => accounts.updateAccount(db, 'a', { name: 'x', disabled: true })],
  ['markPropagated', (db) => accounts.markPropagated(db, 'a', 1)],
  ['accountsToPropagate', accounts.accountsToPropagate, ['accounts_unpushed']],
  [
    'beginReset',
    (db) => beginReset(db, 'a'),
    [
      'customers_day',
      'fraud_cases_opened',
      'affiliate_questions_affiliate',
      'statements_affiliate',
      'payments_by_day',
      'fraud_ended_holds_ended',
      'exports_id',
      'payment_returns_folded',
      'manual_entries_affiliate',
      'webhook_messages_endpoint',
      'webhook_events_about',
      'webhook_attempts_endpoint',
    ],
  ],
  [
    'expiringCredentials',
    (db) => expiring.expiringCredentials(db, 0, 1),
    ['client_secrets_ends', 'brand_tokens_ends', 'affiliate_keys_ends'],
  ],
  [
    'expiriesOfAccount',
    (db) => expiring.expiriesOfAccount(db, 'a', 0, 1),
    ['clients_account', 'client_secrets_client', 'brand_tokens_account'],
  ],
  ['finishResets', (db) => finishResets(db, 0)],
  ['finishReleases', (db) => finishReleases(db, null, 0), ['totals_releasing']],
  ['finishReleases of an account', (db) => finishReleases(db, 'a', 0)],
  ['putAffiliates', (db) => affiliates.putAffiliates(db, 'a', affiliate)],
  ['rejectCycles', (db) => tree.rejectCycles(db, 'a', affiliate)],
  ['rejectDeepTrees', (db) => tree.rejectDeepTrees(db, 'a', 64)],
  ['listAffiliates', (db) => affiliates.listAffiliates(db, 'a', page)],
  [
    'listAffiliates by a beginning',
    (db) => affiliates.listAffiliates(db, 'a', page, { beginning: 'x' }),
    ['affiliates_name', 'affiliates_email'],
  ],
  ['listAffiliates of some', (db) => affiliates.listAffiliates(db, 'a', page, { ids: ['x', 'y'] })],
  ['listUnconfigured', (db) => affiliates.listUnconfigured(db, 'a', 1_000_000), ['customers_day']],
  ['readParents', (db) => parents.readParents(db, 'a', null)],
  ['readParents of some', (db) => parents.readParents(db, 'a', ['x'])],
  ['replaceParents', (db) => parents.replaceParents(db, 'a', [{ affiliate_id: 'x', parents: [] }])],
  ['affiliateExists', (db) => affiliates.affiliateExists(db, 'a', 'x')],
  ['unconfiguredAmong', (db) => affiliates.unconfiguredAmong(db, 'a', ['x'])],
  ['listAttributions', (db) => attribution.listAttributions(db, 'a', next, {})],
  [
    'countAttributions',
    (db) => attribution.countAttributions(db, 'a', 'x', 'x'),
    ['customers_day'],
  ],
  ['countClicks', (db) => attribution.countClicks(db, 'a', october)],
  ['countClicks of links', (db) => attribution.countClicks(db, 'a', { ...october, links: ['x'] })],
  ['configuredAffiliates', (db) => attribution.configuredAffiliates(db, 'a', ['x'])],
  ['readPlanRows', (db) => plans.readPlanRows(db, 'a'), ['plan_versions_day']],
  [
    'readVersions',
    (db) => plans.readVersions(db, 'a', 'p'),
    ['plan_versions_day', 'statements_closed'],
  ],
  ['listVersions', (db) => plans.listVersions(db, 'a', null)],
  ['findVersion', (db) => plans.findVersion(db, 'a', 'p', 1)],
  [
    'withdrawVersion',
    (db) =>
      plans.withdrawVersion(db, {
        account: 'a',
        plan: 'p',
        version: 1,
        today: '2026-12-01',
        withdrawn_at: 'x',
      }),
    ['plan_versions_day', 'assignments_plan', 'statements_closed'],
  ],
  ['readRuleRows', (db) => fraud.readRuleRows(db, 'a'), ['fraud_rule_versions_day']],
  [
    'readRuleVersions',
    (db) => fraud.readRuleVersions(db, 'a', 'r'),
    ['fraud_rule_versions_day', 'customers_day'],
  ],
  ['listRuleVersions', (db) => fraud.listRuleVersions(db, 'a', null)],
  ['findRuleVersion', (db) => fraud.findRuleVersion(db, 'a', 'r', 1)],
  [
    'withdrawRuleVersion',
    (db) =>
      fraud.withdrawRuleVersion(db, {
        account: 'a',
        rule: 'r',
        version: 1,
        today: '2026-12-01',
        withdrawn_at: 'x',
      }),
  ],
  [
    'replaceRuleFrom',
    (db) =>
      fraud.replaceRuleFrom(
        db,
        { account: 'a', rule: 'r', from: '2026-12-01', now: 'x', audit: 'i' },
        '{}',
      ),
    ['fraud_rule_versions_day'],
  ],
  ['putAssignments', (db) => assignments.putAssignments(db, 'a', [assigned])],
  ['rejectUnknownPlans', (db) => assignments.rejectUnknownPlans(db, 'a', ['p'])],
  [
    'readAssignmentContext',
    (db) => assignments.readAssignmentContext(db, 'a', [assigned]),
    ['assignments_plan'],
  ],
  ['listAssignments', (db) => assignments.listAssignments(db, 'a', 'x', page)],
  ['findAssignment', (db) => assignments.findAssignment(db, 'a', assigned)],
  ['deleteAssignment', (db) => assignments.deleteAssignment(db, 'a', assigned)],
  ['withAudit', (db) => audit.withAudit(db, entry, [])],
  [
    'listAudit',
    (db) => audit.listAudit(db, Promise.resolve([]), { account: 'a' }, page),
    ['audit_log_account'],
  ],
  [
    'listAudit with filters',
    (db) =>
      audit.listAudit(
        db,
        Promise.resolve([]),
        { account: 'a', start: 1, end: 2, actor: 'x', kinds: ['plan'] },
        page,
      ),
    ['audit_log_account'],
  ],
  ['hasAuditEntry', (db) => audit.hasAuditEntry(db, 'x')],
  ['storeClicks', (db) => clicks.storeClicks(db, [click])],
  ['findClient', (db) => clients.findClient(db, 'x', 'x')],
  ['listAffiliateIds', (db) => clients.listAffiliateIds(db, 'a', 1)],
  [
    'listClients',
    (db) => credentials.listClients(db, 'a'),
    ['clients_account', 'client_secrets_client'],
  ],
  ['listBrandTokens', (db) => credentials.listBrandTokens(db, 'a'), ['brand_tokens_account']],
  ['listAffiliateKeys', (db) => keys.listAffiliateKeys(db, 'a', 'x'), ['affiliate_keys_affiliate']],
  ['keysOfAccount', (db) => keys.keysOfAccount(db, 'a', false), ['affiliate_keys_affiliate']],
  [
    'endAffiliateKey',
    (db) => keys.endAffiliateKey(db, { account: 'a', affiliate_id: 'x', id: 'x' }, 1),
    ['sqlite_autoindex_affiliate_keys_2'],
  ],
  ['hasLiveKeys', (db) => keys.hasLiveKeys(db, 'a', 'x', 1), ['affiliate_keys_affiliate']],
  ['rotateClient with overlap', (db) => credentials.rotateClient(db, 'x', 'x', 1)],
  [
    'rotateClient without overlap',
    (db) => credentials.rotateClient(db, 'x', 'x', null),
    ['client_secrets_client'],
  ],
  ['revokeClient', (db) => credentials.revokeClient(db, 'x')],
  ['endBrandTokens', (db) => credentials.endBrandTokens(db, 'a', 'x', 1), ['brand_tokens_account']],
  [
    'endBrandToken',
    (db) => credentials.endBrandToken(db, 'a', 'x', 1),
    ['sqlite_autoindex_brand_tokens_2'],
  ],
  [
    'closeCredentials',
    (db) =>
      credentials.closeCredentials(db, {
        clients: ['x'],
        brandTokens: ['x'],
        affiliateKeys: ['x'],
      }),
    ['sqlite_autoindex_brand_tokens_2', 'sqlite_autoindex_affiliate_keys_2'],
  ],
  ['bumpVersion', (db) => credentials.bumpVersion(db, 'a')],
  ['listDefinitions', (db) => definitions.listDefinitions(db, 'a')],
  ['putDefinition', (db) => definitions.putDefinition(db, 'a', { ...definition, kpis: [] })],
  ['deleteDefinition', (db) => definitions.deleteDefinition(db, 'a', 'x')],
  ['findLink', (db) => links.findLink(db, 'x')],
  ['listLinks', (db) => links.listLinks(db, 'a', null, next), ['links_account']],
  ['findAccountLink', (db) => links.findAccountLink(db, 'a', 'x')],
  ['listLinks of an affiliate', (db) => links.listLinks(db, 'a', 'x', next), ['links_affiliate']],
  ['updateLink', (db) => links.updateLink(db, 'a', 'x', { name: null }, 'team')],
  ['countOtherLinks', (db) => links.countOtherLinks(db, ownLink), ['links_affiliate']],
  ['rejectFull', (db) => links.rejectFull(db, ownLink), ['links_affiliate']],
  ['rejectDisabledByTeam', (db) => links.rejectDisabledByTeam(db, 'a', 'x')],
  ['affiliatesByLink', (db) => links.affiliatesByLink(db, 'a', ['x']), ['links_account']],
  ['linksOf', (db) => links.linksOf(db, 'a', ['x']), ['links_affiliate']],
  [
    'readHistories',
    (db) => histories.readHistories({ db, directory: db as D1Database }, 'a', ['x']),
  ],
  [
    'replaceAffiliations',
    (db) => affiliations.replaceAffiliations(db, 'a', 'x', [{ from: null, affiliate_id: 'x' }]),
  ],
  ['putRefusal', (db) => refusals.putRefusal(db, 'a', 'x', refusal)],
  ['deleteRefusal', (db) => refusals.deleteRefusal(db, 'a', 'x')],
  [
    'findCustomersOf all',
    (db) => findCustomersOf({ db, directory: db }, { ...october, affiliates: null }, null),
  ],
  [
    'findCustomersOf some',
    (db) => findCustomersOf({ db, directory: db }, { ...october, affiliates: ['x'] }, null),
    ['links_affiliate'],
  ],
  [
    'findCustomersOf with changes',
    (db) => findCustomersOf({ db, directory: db }, { ...october, affiliates: ['x'] }, changed),
  ],
  ['readMapping', (db) => statusMaps.readMapping(db, 'a', 'status')],
  ['putMapping', (db) => statusMaps.putMapping(db, 'a', 'status', { x: 'x' })],
  [
    'erasePersonalData',
    (db) => erasure.erasePersonalData(db, 'a', [{ customer_id: 'x', erased_at: 'x' }], scope),
    ['affiliate_questions_customer', 'webhook_endpoints_affiliate'],
  ],
  ['customerExists', (db) => erasure.customerExists(db, 'a', 'x'), ['events_held']],
  [
    'maskNextActivities',
    (db) => activities.maskNextActivities(db, { account: 'a', customer_id: 'x' }, []),
  ],
  ['pendingErasures', (db) => activities.pendingErasures(db, 1), ['erasures_pending']],
  ['countDifferences', (db) => rates.countDifferences(db, ratePart)],
  ['listDifferences', (db) => rates.listDifferences(db, ratePart, 1)],
  [
    'storeRates',
    (db) => rates.storeRates(db, ratePart, [{ sent: 1, missing: 0, different: 1 }], 0),
  ],
  [
    'loadRates',
    (db) => loadRates(db, { currencies: ['USD'], days: [{ first: 0, last: 1 }], at: null }),
  ],
  [
    'loadRates of all currencies',
    (db) => loadRates(db, { currencies: null, days: [{ first: 0, last: 1 }], at: 0 }),
  ],
  ['listErasures', (db) => erasure.listErasures(db, 'a', page)],
]

for (const [name, call, indexes = []] of CALLS) {
  test(`${name} scans no table`, async () => {
    const { db, texts } = recorder()
    // The recorder has no rows. A function that needs one fails after it has sent its statements.
    await Promise.resolve(call(db)).catch((error) => texts.length > 0 || Promise.reject(error))
    const plans = texts.map((sql) => ({ sql, plan: queryPlan(sql) }))
    deepEqual(
      plans.flatMap(({ sql, plan }) => planFaults(sql, plan, indexes)),
      [],
    )
    const steps = plans.flatMap(({ plan }) => plan).join('\n')
    deepEqual(
      indexes.filter((index) => !steps.includes(index)),
      [],
      `unused indexes; the plan is\n${steps}`,
    )
  })
}

// Written by scripts/tables.ts from migrations/: add a migration, then `npm run generate`.

import { day, id, instant } from './column-types.ts'
import type * as drizzle from './drizzle-tables.ts'
import { defineTable } from './table.ts'

/** Partner firms and brands. */
export const accounts = /* @__PURE__ */ defineTable<typeof drizzle.accounts>({
  $name: 'accounts',
  $columns: {
    id: null,
    name: null,
    vertical: null,
    mode: null,
    time_zone: null,
    binding: null,
    unknown_customer: null,
    unknown_affiliate: null,
    disabled: null,
    created_at: null,
    version: null,
    pushed: null,
    storage_quota: null,
    region: null,
    jurisdiction: null,
    book_zone: null,
    approvals: null,
    unattributed_threshold: null,
    amount_signs: null,
  },
  $primaryKey: ['id'],
  $uniqueKey: null,
})

/** The OAuth clients of partner firms. */
export const clients = /* @__PURE__ */ defineTable<typeof drizzle.clients>({
  $name: 'clients',
  $columns: {
    client_id: null,
    account: null,
    secret_digest: null,
    version: null,
    revoked: null,
    created_at: null,
    closed: null,
  },
  $primaryKey: ['client_id'],
  $uniqueKey: null,
})

/** Previous secrets of OAuth clients, each valid until `ends_at` (milliseconds). */
export const clientSecrets = /* @__PURE__ */ defineTable<typeof drizzle.clientSecrets>({
  $name: 'client_secrets',
  $columns: { digest: null, client_id: null, ends_at: null },
  $primaryKey: ['digest'],
  $uniqueKey: null,
})

/** Brand Tokens; `ends_at` (milliseconds) is null while a token has no end. */
export const brandTokens = /* @__PURE__ */ defineTable<typeof drizzle.brandTokens>({
  $name: 'brand_tokens',
  $columns: {
    digest: null,
    id: null,
    account: null,
    ends_at: null,
    created_at: null,
    closed: null,
  },
  $primaryKey: ['digest'],
  $uniqueKey: null,
})

/** The affiliates of an account, under the ids that the account uses. */
export const affiliates = /* @__PURE__ */ defineTable<typeof drizzle.affiliates>({
  $name: 'affiliates',
  $columns: { account: null, affiliate_id: null, parent: null },
  $primaryKey: ['account', 'affiliate_id'],
  $uniqueKey: null,
})

/** Tracking links, each of one affiliate. */
export const links = /* @__PURE__ */ defineTable<typeof drizzle.links>({
  $name: 'links',
  $columns: {
    link_id: null,
    account: null,
    affiliate_id: null,
    name: null,
    landing_page: null,
    disabled: null,
    created_at: null,
    pass_query: null,
  },
  $primaryKey: ['link_id'],
  $uniqueKey: null,
})

/** Clicks on links; `clicked_at` in milliseconds. */
export const clicks = /* @__PURE__ */ defineTable<typeof drizzle.clicks>({
  $name: 'clicks',
  $columns: { account: null, day, link_id: null, click_id: null, clicked_at: null },
  $primaryKey: ['account', 'day', 'link_id', 'click_id'],
  $uniqueKey: null,
})

/** How the events of one name are validated; `kpis` and `product` are JSON. */
export const eventDefinitions = /* @__PURE__ */ defineTable<typeof drizzle.eventDefinitions>({
  $name: 'event_definitions',
  $columns: {
    account: null,
    eventname: null,
    granularity: null,
    eventid: null,
    kpis: null,
    product: null,
    currency: null,
    outflow: null,
    status_member: null,
  },
  $primaryKey: ['account', 'eventname'],
  $uniqueKey: null,
})

/** The meanings of values that an account uses in place of the standard ones. */
export const vocabulary = /* @__PURE__ */ defineTable<typeof drizzle.vocabulary>({
  $name: 'vocabulary',
  $columns: { account: null, field: null, word: null, means: null },
  $primaryKey: ['account', 'field', 'word'],
  $uniqueKey: null,
})

/** The versions of plans; `terms` is canonical JSON. */
export const planVersions = /* @__PURE__ */ defineTable<typeof drizzle.planVersions>({
  $name: 'plan_versions',
  $columns: {
    account: null,
    plan: null,
    version: null,
    effective_from: null,
    terms: null,
    created_at: null,
    withdrawn_at: null,
  },
  $primaryKey: ['account', 'plan', 'version'],
  $uniqueKey: ['account', 'plan', 'effective_from'],
})

/** Which plan governs the customers of an affiliate, from a day on. */
export const assignments = /* @__PURE__ */ defineTable<typeof drizzle.assignments>({
  $name: 'assignments',
  $columns: { account: null, affiliate_id: null, from_day: null, plan: null, customers: null },
  $primaryKey: ['account', 'affiliate_id', 'from_day'],
  $uniqueKey: null,
})

/** Customers of every vertical. */
export const customers = /* @__PURE__ */ defineTable<typeof drizzle.customers>({
  $name: 'customers',
  $columns: {
    account: null,
    customer_id: id,
    signup_date: instant,
    last_modified_date: instant,
    affiliate_id: null,
    tracking_data: null,
    lang_id: null,
    country_code: null,
    kyc_status_id: null,
    sales_status_id: null,
    challenge_type: null,
    phase: null,
    account_size: null,
    trading_account_type: null,
    leverage: null,
    first_name: null,
    last_name: null,
    email: null,
    day,
    delivery: null,
    idx: null,
    revision: null,
    regtime: null,
    extras: null,
    first_day: day,
    verdict: null,
    link: null,
    first_seen_at: null,
    first_seen_day: null,
  },
  $primaryKey: ['account', 'customer_id'],
  $uniqueKey: null,
})

/** Financial events on trader accounts. */
export const transactions = /* @__PURE__ */ defineTable<typeof drizzle.transactions>({
  $name: 'transactions',
  $columns: {
    account: null,
    transaction_id: id,
    customer_id: id,
    transaction_type: null,
    amount_currency: null,
    currency: null,
    transaction_date: instant,
    status: null,
    amount_usd: null,
    transaction_subtype: null,
    note: null,
    day,
    held: null,
    delivery: null,
    idx: null,
    revision: null,
  },
  $primaryKey: ['account', 'day', 'customer_id', 'transaction_id'],
  $uniqueKey: ['account', 'transaction_id'],
})

/** The resource `trading-activity`: one row per day, customer, instrument and currency. */
export const activity = /* @__PURE__ */ defineTable<typeof drizzle.activity>({
  $name: 'activity',
  $columns: {
    account: null,
    date: day,
    customer_id: id,
    instrument: null,
    currency: null,
    lots_traded: null,
    pnl: null,
    drawdown: null,
    max_drawdown: null,
    volume_usd: null,
    spread_cost: null,
    commission: null,
    held: null,
    delivery: null,
    idx: null,
    revision: null,
  },
  $primaryKey: ['account', 'date', 'customer_id', 'instrument', 'currency'],
  $uniqueKey: null,
})

/** The resource `activities`: events of brand customers. */
export const events = /* @__PURE__ */ defineTable<typeof drizzle.events>({
  $name: 'events',
  $columns: {
    account: null,
    id: null,
    eventname: null,
    customer_id: id,
    eventid: null,
    createtime: instant,
    amount: null,
    currency: null,
    product: null,
    kpis: null,
    details: null,
    record: null,
    day,
    first_day: day,
    held: null,
    delivery: null,
    idx: null,
    revision: null,
  },
  $primaryKey: ['account', 'day', 'customer_id', 'id'],
  $uniqueKey: ['account', 'id'],
})

/** Changes of the affiliates of customers, by day. */
export const customerAffiliations = /* @__PURE__ */ defineTable<
  typeof drizzle.customerAffiliations
>({
  $name: 'customer_affiliations',
  $columns: {
    account: null,
    customer_id: id,
    day,
    affiliate_id: null,
    link: null,
    previous_affiliate_id: null,
    previous_link: null,
    delivery: null,
  },
  $primaryKey: ['account', 'customer_id', 'day'],
  $uniqueKey: null,
})

/** Changes of the customer fields that plans use, by day: the values before each. */
export const customerFields = /* @__PURE__ */ defineTable<typeof drizzle.customerFields>({
  $name: 'customer_fields',
  $columns: {
    account: null,
    customer_id: id,
    day,
    country_code: null,
    trading_account_type: null,
    challenge_type: null,
    phase: null,
    kyc_status_id: null,
    sales_status_id: null,
    account_size: null,
    link: null,
    delivery: null,
  },
  $primaryKey: ['account', 'customer_id', 'day'],
  $uniqueKey: null,
})

/** Customers who earn nothing from a day on. */
export const customerRefusals = /* @__PURE__ */ defineTable<typeof drizzle.customerRefusals>({
  $name: 'customer_refusals',
  $columns: { account: null, customer_id: id, day, reason: null, refused_at: null },
  $primaryKey: ['account', 'customer_id'],
  $uniqueKey: null,
})

/** Changes of the parents of affiliates, by day. */
export const affiliateParents = /* @__PURE__ */ defineTable<typeof drizzle.affiliateParents>({
  $name: 'affiliate_parents',
  $columns: { account: null, affiliate_id: null, day, parent: null },
  $primaryKey: ['account', 'affiliate_id', 'day'],
  $uniqueKey: null,
})

/** The number of records of an account by resource, and of its held records, which `total` leaves out. */
export const totals = /* @__PURE__ */ defineTable<typeof drizzle.totals>({
  $name: 'totals',
  $columns: {
    account: null,
    resource: null,
    total: null,
    held: null,
    releasing: null,
    released_at: null,
  },
  $primaryKey: ['account', 'resource'],
  $uniqueKey: null,
})

/** The delivery log. `unknown_at`, `stale_at`, `moved`, `erased_at`: JSON arrays of positions in the request, not times. */
export const deliveries = /* @__PURE__ */ defineTable<typeof drizzle.deliveries>({
  $name: 'deliveries',
  $columns: {
    account: null,
    id: null,
    attempt: null,
    received_at: null,
    resource: null,
    form: null,
    dry_run: null,
    lenient: null,
    received: null,
    errors_total: null,
    rejected: null,
    refused: null,
    held: null,
    stale: null,
    created: null,
    listed: null,
    written: null,
    held_written: null,
    errors: null,
    unknown_at: null,
    unknown_keys: null,
    stale_at: null,
    moved: null,
    erased_at: null,
    verdicts: null,
    reused: null,
    yesterday: null,
    today: null,
    written_bytes: null,
    over_quota: null,
    days: null,
    held_change: null,
    hold_refused: null,
    record_bytes: null,
    received_day: day,
    changed_events: null,
    affiliated: null,
  },
  $primaryKey: ['account', 'id'],
  $uniqueKey: null,
})

/** Codes of errors and ids of refused records, by which deliveries are found. */
export const deliveryTerms = /* @__PURE__ */ defineTable<typeof drizzle.deliveryTerms>({
  $name: 'delivery_terms',
  $columns: { account: null, day, term: null, delivery: null },
  $primaryKey: ['account', 'day', 'term', 'delivery'],
  $uniqueKey: null,
})

/** Control totals of the days that have not changed since they were summed. */
export const dayTotals = /* @__PURE__ */ defineTable<typeof drizzle.dayTotals>({
  $name: 'day_totals',
  $columns: {
    account: null,
    resource: null,
    day,
    form: null,
    totals: null,
    computation: null,
    checked_at: null,
    records: null,
  },
  $primaryKey: ['account', 'resource', 'day'],
  $uniqueKey: null,
})

/** The computation of control totals that an account last began. */
export const totalsLeases = /* @__PURE__ */ defineTable<typeof drizzle.totalsLeases>({
  $name: 'totals_leases',
  $columns: { account: null, computation: null, running: null, until: null, paid_at: null },
  $primaryKey: ['account'],
  $uniqueKey: null,
})

/** Idempotency keys, each with a digest of the records of its first use. */
export const idempotencyKeys = /* @__PURE__ */ defineTable<typeof drizzle.idempotencyKeys>({
  $name: 'idempotency_keys',
  $columns: { account: null, resource: null, key: null, digest: null, delivery: null },
  $primaryKey: ['account', 'resource', 'key'],
  $uniqueKey: null,
})

/** The freshness of each feed: one row per account, hour (since 1970) and resource. */
export const arrivals = /* @__PURE__ */ defineTable<typeof drizzle.arrivals>({
  $name: 'arrivals',
  $columns: {
    account: null,
    hour: null,
    resource: null,
    deliveries: null,
    received: null,
    refused: null,
    last_at: null,
    yesterday: null,
    today: null,
    logged_bytes: null,
    written_bytes: null,
  },
  $primaryKey: ['account', 'hour', 'resource'],
  $uniqueKey: null,
})

/** Test accounts whose records are being deleted. */
export const resets = /* @__PURE__ */ defineTable<typeof drizzle.resets>({
  $name: 'resets',
  $columns: { account: null, started_at: null },
  $primaryKey: ['account'],
  $uniqueKey: null,
})

/** Accounts that accept no deliveries, or only those of one book zone. */
export const deliveryConditions = /* @__PURE__ */ defineTable<typeof drizzle.deliveryConditions>({
  $name: 'delivery_conditions',
  $columns: { account: null, resetting: null, book_zone: null },
  $primaryKey: ['account'],
  $uniqueKey: null,
})

/** The bytes that each account stores, up to an hour (since 1970). */
export const storage = /* @__PURE__ */ defineTable<typeof drizzle.storage>({
  $name: 'storage',
  $columns: {
    account: null,
    bytes: null,
    until_hour: null,
    measured_at: null,
    measured_bytes: null,
    measuring: null,
  },
  $primaryKey: ['account'],
  $uniqueKey: null,
})

/** Customers whose personal data was erased; their activities before `next_day` and `after_id` are done. */
export const erasures = /* @__PURE__ */ defineTable<typeof drizzle.erasures>({
  $name: 'erasures',
  $columns: { account: null, customer_id: id, erased_at: null, next_day: null, after_id: null },
  $primaryKey: ['account', 'customer_id'],
  $uniqueKey: null,
})

/** Exchange rates: units of a currency for one euro; `known_from` and `known_until` in milliseconds. */
export const fxRates = /* @__PURE__ */ defineTable<typeof drizzle.fxRates>({
  $name: 'fx_rates',
  $columns: { source: null, currency: null, day, rate: null, known_from: null, known_until: null },
  $primaryKey: ['source', 'currency', 'day', 'known_from'],
  $uniqueKey: null,
})

/** Statements of commissions, by period, affiliate and plan. */
export const statements = /* @__PURE__ */ defineTable<typeof drizzle.statements>({
  $name: 'statements',
  $columns: {
    account: null,
    period: null,
    affiliate_id: null,
    plan: null,
    id: null,
    status: null,
    hash: null,
    digest: null,
    payable: null,
    closing: null,
    statement: null,
    lines: null,
    parts: null,
    state: null,
    read_at: null,
    computed_at: null,
    previous: null,
    approval: null,
    approved_at: null,
    payment: null,
    returned: null,
  },
  $primaryKey: ['account', 'period', 'affiliate_id', 'plan'],
  $uniqueKey: ['account', 'id'],
})

/** The lines of long statements from the second part on. */
export const statementLines = /* @__PURE__ */ defineTable<typeof drizzle.statementLines>({
  $name: 'statement_lines',
  $columns: { account: null, id: null, part: null, lines: null },
  $primaryKey: ['account', 'id', 'part'],
  $uniqueKey: null,
})

/** Test accounts whose books a batch deletes at this moment; otherwise empty. */
export const bookResets = /* @__PURE__ */ defineTable<typeof drizzle.bookResets>({
  $name: 'book_resets',
  $columns: { account: null },
  $primaryKey: ['account'],
  $uniqueKey: null,
})

/** Who has approved a statement so far, where two persons must. */
export const statementApprovals = /* @__PURE__ */ defineTable<typeof drizzle.statementApprovals>({
  $name: 'statement_approvals',
  $columns: { account: null, id: null, hash: null, actor: null, at: null },
  $primaryKey: ['account', 'id', 'hash', 'actor'],
  $uniqueKey: null,
})

/** The periods of plans that were approved as a whole. */
export const closedPeriods = /* @__PURE__ */ defineTable<typeof drizzle.closedPeriods>({
  $name: 'closed_periods',
  $columns: { account: null, plan: null, period: null, closed_at: null },
  $primaryKey: ['account', 'plan', 'period'],
  $uniqueKey: null,
})

/** Affiliates for which the approval of a period did not close it. */
export const openAffiliates = /* @__PURE__ */ defineTable<typeof drizzle.openAffiliates>({
  $name: 'open_affiliates',
  $columns: { account: null, plan: null, period: null, affiliate_id: null },
  $primaryKey: ['account', 'plan', 'period', 'affiliate_id'],
  $uniqueKey: null,
})

/** Amounts that the integrations team entered. */
export const manualEntries = /* @__PURE__ */ defineTable<typeof drizzle.manualEntries>({
  $name: 'manual_entries',
  $columns: {
    account: null,
    id: null,
    affiliate_id: null,
    plan: null,
    currency: null,
    amount: null,
    reason: null,
    reference: null,
    actor: null,
    at: null,
    statement: null,
  },
  $primaryKey: ['account', 'id'],
  $uniqueKey: ['account', 'reference'],
})

/** What was paid, by reference. */
export const payments = /* @__PURE__ */ defineTable<typeof drizzle.payments>({
  $name: 'payments',
  $columns: {
    account: null,
    reference: null,
    affiliate_id: null,
    currency: null,
    amount: null,
    paid_on: null,
    statements: null,
    actor: null,
    at: null,
  },
  $primaryKey: ['account', 'reference'],
  $uniqueKey: null,
})

/** Payments that the bank returned. */
export const paymentReturns = /* @__PURE__ */ defineTable<typeof drizzle.paymentReturns>({
  $name: 'payment_returns',
  $columns: {
    account: null,
    payment: null,
    reference: null,
    returned_on: null,
    reason: null,
    actor: null,
    at: null,
  },
  $primaryKey: ['account', 'payment'],
  $uniqueKey: null,
})

/** What affiliates earned and were paid: append-only. */
export const ledger = /* @__PURE__ */ defineTable<typeof drizzle.ledger>({
  $name: 'ledger',
  $columns: {
    account: null,
    affiliate_id: null,
    id: null,
    kind: null,
    plan: null,
    period: null,
    statement: null,
    currency: null,
    amount: null,
    reference: null,
    actor: null,
    at: null,
  },
  $primaryKey: ['account', 'affiliate_id', 'id'],
  $uniqueKey: null,
})

/** Runs that compute the statements of a period. */
export const statementRuns = /* @__PURE__ */ defineTable<typeof drizzle.statementRuns>({
  $name: 'statement_runs',
  $columns: {
    account: null,
    id: null,
    period: null,
    status: null,
    affiliates: null,
    steps: null,
    changed: null,
    started_at: null,
    ended_at: null,
    active_at: null,
    restarts: null,
    steps_done: null,
    reason: null,
  },
  $primaryKey: ['account', 'id'],
  $uniqueKey: null,
})

/** Past days of which an account keeps the facts, by calendar year. */
export const keptDays = /* @__PURE__ */ defineTable<typeof drizzle.keptDays>({
  $name: 'kept_days',
  $columns: {
    account: null,
    first_day: day,
    last_day: null,
    generation: null,
    form: null,
    summed_from: null,
    begun_at: null,
    ready: null,
    mean: null,
  },
  $primaryKey: ['account', 'first_day'],
  $uniqueKey: null,
})

/** The facts of a customer on these days, as runs have read them; `rows` is JSON. */
export const keptFacts = /* @__PURE__ */ defineTable<typeof drizzle.keptFacts>({
  $name: 'kept_facts',
  $columns: {
    account: null,
    customer_id: id,
    first_day: day,
    generation: null,
    facts: null,
    rows: null,
  },
  $primaryKey: ['account', 'customer_id', 'first_day'],
  $uniqueKey: null,
})

/** Days of these of which a record has changed since. */
export const changedDays = /* @__PURE__ */ defineTable<typeof drizzle.changedDays>({
  $name: 'changed_days',
  $columns: { account: null, first_day: day, generation: null, day },
  $primaryKey: ['account', 'first_day', 'generation', 'day'],
  $uniqueKey: null,
})

/** The affiliates of each step of a run that goes on. */
export const statementRunSteps = /* @__PURE__ */ defineTable<typeof drizzle.statementRunSteps>({
  $name: 'statement_run_steps',
  $columns: {
    account: null,
    run: null,
    step: null,
    affiliates: null,
    changed: null,
    written: null,
  },
  $primaryKey: ['account', 'run', 'step'],
  $uniqueKey: null,
})

/** The addresses to which events are sent; their secrets are encrypted. */
export const webhookEndpoints = /* @__PURE__ */ defineTable<typeof drizzle.webhookEndpoints>({
  $name: 'webhook_endpoints',
  $columns: {
    account: null,
    id: null,
    url: null,
    events: null,
    description: null,
    secrets: null,
    disabled: null,
    failing_since: null,
    created_at: null,
  },
  $primaryKey: ['account', 'id'],
  $uniqueKey: null,
})

/** Events, each written in the transaction that causes it; `data` is JSON. */
export const webhookEvents = /* @__PURE__ */ defineTable<typeof drizzle.webhookEvents>({
  $name: 'webhook_events',
  $columns: { account: null, id: null, type: null, about: null, at: null, data: null },
  $primaryKey: ['account', 'id'],
  $uniqueKey: ['account', 'type', 'about'],
})

/** What is sent of each event to each endpoint. */
export const webhookMessages = /* @__PURE__ */ defineTable<typeof drizzle.webhookMessages>({
  $name: 'webhook_messages',
  $columns: {
    account: null,
    event: null,
    endpoint: null,
    status: null,
    attempts: null,
    next_at: null,
    queued_until: null,
  },
  $primaryKey: ['account', 'event', 'endpoint'],
  $uniqueKey: null,
})

/** The log of attempts to send events. */
export const webhookAttempts = /* @__PURE__ */ defineTable<typeof drizzle.webhookAttempts>({
  $name: 'webhook_attempts',
  $columns: {
    account: null,
    id: null,
    endpoint: null,
    event: null,
    attempt: null,
    at: null,
    status: null,
    ms: null,
    error: null,
  },
  $primaryKey: ['account', 'id'],
  $uniqueKey: null,
})

/** How often webhooks wanted to know of a refused delivery on the last such day. */
export const webhookRefusals = /* @__PURE__ */ defineTable<typeof drizzle.webhookRefusals>({
  $name: 'webhook_refusals',
  $columns: { account: null, day, events: null },
  $primaryKey: ['account'],
  $uniqueKey: null,
})

/** Feeds that were reported as late and have not recovered. */
export const webhookLateFeeds = /* @__PURE__ */ defineTable<typeof drizzle.webhookLateFeeds>({
  $name: 'webhook_late_feeds',
  $columns: { account: null, resource: null, day: null },
  $primaryKey: ['account', 'resource'],
  $uniqueKey: null,
})

/** Changes that the integrations team made; `details` is JSON. */
export const auditLog = /* @__PURE__ */ defineTable<typeof drizzle.auditLog>({
  $name: 'audit_log',
  $columns: { id: null, at: null, actor: null, action: null, account: null, details: null },
  $primaryKey: ['id'],
  $uniqueKey: null,
})

/** An account as configured. */
export type Account = typeof accounts.$inferSelect

/** A row of the delivery log. */
export type Delivery = typeof deliveries.$inferSelect

// Written by scripts/tables.ts from migrations/: add a migration, then `npm run generate`.

import { integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { day, id, instant } from './column-types.ts'

/** Partner firms and brands. */
export const accounts = /* @__PURE__ */ sqliteTable('accounts', () => ({
  id: text().primaryKey(),
  name: text().notNull(),
  vertical: text({ enum: ['prop-trading', 'forex', 'igaming'] }).notNull(),
  mode: text({ enum: ['live', 'test'] }).notNull(),
  time_zone: text().notNull().default('UTC'),
  binding: text().notNull().default('DB'),
  unknown_customer: text({ enum: ['reject', 'hold'] }).notNull(),
  unknown_affiliate: text({ enum: ['warn', 'reject'] })
    .notNull()
    .default('warn'),
  disabled: integer().notNull().default(0),
  created_at: text().notNull(),
  version: integer().notNull().default(1),
  pushed: integer().notNull().default(1),
  storage_quota: integer().notNull().default(4294967296),
  region: text({
    enum: ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'apac-ne', 'apac-se', 'oc', 'afr', 'me'],
  }),
  jurisdiction: text({ enum: ['eu', 'us', 'fedramp'] }),
  book_zone: text().notNull().default('UTC'),
  approvals: integer().notNull().default(1),
  unattributed_threshold: real().notNull().default(0.2),
  amount_signs: text({ enum: ['magnitude', 'signed'] })
    .notNull()
    .default('magnitude'),
  address: text(),
  locale: text(),
  affiliate_view: text().notNull().default('{}'),
  pseudonym_key: text(),
  landing_pages: text().notNull().default('[]'),
  accent_color: text(),
  logo: text(),
  exports: text({ enum: ['off', 'without_personal_data', 'with_personal_data'] })
    .notNull()
    .default('off'),
  archive_after: integer().default(13),
}))

/** The OAuth clients of partner firms. */
export const clients = /* @__PURE__ */ sqliteTable('clients', () => ({
  client_id: text().primaryKey(),
  account: text().notNull(),
  secret_digest: text().notNull(),
  version: integer().notNull().default(1),
  revoked: integer().notNull().default(0),
  created_at: text().notNull(),
  closed: integer().notNull().default(0),
}))

/** Previous secrets of OAuth clients, each valid until `ends_at` (milliseconds). */
export const clientSecrets = /* @__PURE__ */ sqliteTable('client_secrets', () => ({
  digest: text().primaryKey(),
  client_id: text().notNull(),
  ends_at: integer().notNull(),
}))

/** Brand Tokens; `ends_at` (milliseconds) is null while a token has no end. */
export const brandTokens = /* @__PURE__ */ sqliteTable('brand_tokens', () => ({
  digest: text().primaryKey(),
  id: text().notNull(),
  account: text().notNull(),
  ends_at: integer(),
  created_at: text().notNull(),
  closed: integer().notNull().default(0),
}))

/** Keys of affiliates; `ends_at` (milliseconds) is null while a key has no end. */
export const affiliateKeys = /* @__PURE__ */ sqliteTable('affiliate_keys', () => ({
  digest: text().primaryKey(),
  id: text().notNull(),
  account: text().notNull(),
  affiliate_id: text().notNull(),
  name: text().notNull(),
  scope: text({ enum: ['read', 'read links'] }).notNull(),
  ends_at: integer(),
  created_at: text().notNull(),
  created_by: text().notNull(),
  closed: integer().notNull().default(0),
  last_used_on: text(),
}))

/** The affiliates of an account, under the ids that the account uses. */
export const affiliates = /* @__PURE__ */ sqliteTable(
  'affiliates',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    parent: text(),
    display_name: text(),
    contact_email: text(),
    language: text({ enum: ['en', 'de', 'es', 'fr', 'pt'] }),
    note: text(),
    status: text({ enum: ['active', 'suspended'] })
      .notNull()
      .default('active'),
    suspensions: integer().notNull().default(0),
  }),
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id] })],
)

/** Persons who sign in for an affiliate. */
export const affiliateMembers = /* @__PURE__ */ sqliteTable(
  'affiliate_members',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    created_at: text().notNull(),
    last_seen_at: text().notNull(),
    questions_seen_at: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id, t.id] })],
)

/** Their passkeys; `transports` is JSON. */
export const affiliatePasskeys = /* @__PURE__ */ sqliteTable(
  'affiliate_passkeys',
  () => ({
    account: text().notNull(),
    credential_id: text().notNull(),
    affiliate_id: text().notNull(),
    member: text().notNull(),
    public_key: text().notNull(),
    counter: integer().notNull(),
    transports: text().notNull(),
    name: text().notNull(),
    created_at: text().notNull(),
    last_used_at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.credential_id] })],
)

/** Invitations to register a passkey, as digests; `ends_at` in milliseconds. */
export const affiliateInvitations = /* @__PURE__ */ sqliteTable(
  'affiliate_invitations',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    id: text().notNull(),
    digest: text().notNull(),
    member: text(),
    created_at: text().notNull(),
    created_by: text().notNull(),
    ends_at: integer().notNull(),
    used_at: text(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.affiliate_id, t.id] }),
    uniqueIndex('affiliate_invitations_digest').on(t.account, t.digest),
  ],
)

/** Questions of affiliates about a statement, line or customer. */
export const affiliateQuestions = /* @__PURE__ */ sqliteTable(
  'affiliate_questions',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    affiliate_id: text().notNull(),
    about: text({ enum: ['statement', 'line', 'customer'] }).notNull(),
    subject: text().notNull(),
    statement: text(),
    period: text(),
    customer_id: id(),
    status: text({ enum: ['open', 'closed'] })
      .notNull()
      .default('open'),
    asked_at: text().notNull(),
    answered_at: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** Tracking links, each of one affiliate. */
export const links = /* @__PURE__ */ sqliteTable('links', () => ({
  link_id: text().primaryKey(),
  account: text().notNull(),
  affiliate_id: text().notNull(),
  name: text(),
  landing_page: text().notNull(),
  disabled: integer().notNull().default(0),
  created_at: text().notNull(),
  pass_query: integer().notNull().default(0),
  disabled_by: text({ enum: ['team', 'affiliate'] }),
}))

/** Clicks on links; `clicked_at` in milliseconds. */
export const clicks = /* @__PURE__ */ sqliteTable(
  'clicks',
  () => ({
    account: text().notNull(),
    day: day().notNull(),
    link_id: text().notNull(),
    click_id: text().notNull(),
    clicked_at: integer().notNull(),
    sub1: text(),
    sub2: text(),
    sub3: text(),
    sub4: text(),
    sub5: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.day, t.link_id, t.click_id] })],
)

/** How the events of one name are validated; `kpis` and `product` are JSON. */
export const eventDefinitions = /* @__PURE__ */ sqliteTable(
  'event_definitions',
  () => ({
    account: text().notNull(),
    eventname: text().notNull(),
    granularity: text({ enum: ['event', 'day'] }).notNull(),
    eventid: text({ enum: ['required', 'used', 'ignored'] }).notNull(),
    kpis: text().notNull(),
    product: text(),
    currency: text(),
    outflow: integer().notNull().default(0),
    status_member: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.eventname] })],
)

/** The meanings of values that an account uses in place of the standard ones. */
export const vocabulary = /* @__PURE__ */ sqliteTable(
  'vocabulary',
  () => ({
    account: text().notNull(),
    field: text({ enum: ['status', 'kyc_status_id', 'sales_status_id'] }).notNull(),
    word: text().notNull(),
    means: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.field, t.word] })],
)

/** The versions of plans; `terms` is canonical JSON. */
export const planVersions = /* @__PURE__ */ sqliteTable(
  'plan_versions',
  () => ({
    account: text().notNull(),
    plan: text().notNull(),
    version: integer().notNull(),
    effective_from: text().notNull(),
    terms: text().notNull(),
    created_at: text().notNull(),
    withdrawn_at: text(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.plan, t.version] }),
    uniqueIndex('plan_versions_day').on(t.account, t.plan, t.effective_from),
  ],
)

/** The versions of fraud rules; `terms` is canonical JSON. */
export const fraudRuleVersions = /* @__PURE__ */ sqliteTable(
  'fraud_rule_versions',
  () => ({
    account: text().notNull(),
    rule: text().notNull(),
    version: integer().notNull(),
    effective_from: text().notNull(),
    terms: text().notNull(),
    created_at: text().notNull(),
    withdrawn_at: text(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.rule, t.version] }),
    uniqueIndex('fraud_rule_versions_day').on(t.account, t.rule, t.effective_from),
  ],
)

/** How far the fraud rules of an account were evaluated. */
export const fraudProgress = /* @__PURE__ */ sqliteTable('fraud_progress', () => ({
  account: text().primaryKey(),
  through: integer().notNull(),
  changed_from: integer(),
  inputs: text().notNull(),
  first: integer(),
  last: integer(),
  cursor: text().notNull().default(''),
  too_large: text().notNull().default('{}'),
}))

/** What fraud rules found on each day; `figures` and `evidence` are JSON. */
export const fraudFindings = /* @__PURE__ */ sqliteTable(
  'fraud_findings',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    rule: text().notNull(),
    subject: text().notNull(),
    day: day().notNull(),
    part: integer().notNull(),
    version: integer().notNull(),
    figures: text(),
    sentence: text(),
    evidence: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id, t.rule, t.subject, t.day, t.part] })],
)

/** The cases of the fraud review. */
export const fraudCases = /* @__PURE__ */ sqliteTable(
  'fraud_cases',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    affiliate_id: text().notNull(),
    rule: text().notNull(),
    subject: text().notNull(),
    position: integer().notNull(),
    customer_id: id(),
    other_customer_id: text(),
    version: integer().notNull(),
    kind: text().notNull(),
    severity: text({ enum: ['low', 'medium', 'high'] }).notNull(),
    action: text({ enum: ['flag', 'hold'] }).notNull(),
    reserve_percent: text().notNull().default('100'),
    status: text({ enum: ['open', 'confirmed', 'dismissed', 'expired'] }).notNull(),
    opened_for: integer().notNull(),
    opened_at: integer().notNull(),
    last_day: integer().notNull(),
    figures: text().notNull(),
    sentence: text().notNull(),
    evidence_count: integer().notNull(),
    evidence_digest: text().notNull(),
    keep_hold: integer().notNull().default(0),
    decided_at: integer(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.id] }),
    uniqueIndex('fraud_cases_position').on(
      t.account,
      t.affiliate_id,
      t.rule,
      t.subject,
      t.position,
    ),
  ],
)

/** Holds that ended without a decision, until a person acknowledges it. */
export const fraudEndedHolds = /* @__PURE__ */ sqliteTable(
  'fraud_ended_holds',
  () => ({
    account: text().notNull(),
    case_id: text().notNull(),
    affiliate_id: text().notNull(),
    rule: text().notNull(),
    name: text().notNull(),
    subject: text().notNull(),
    sentence: text().notNull(),
    because: text({ enum: ['records', 'rule', 'expired'] }).notNull(),
    moved: text(),
    opened_at: integer().notNull(),
    ended_at: integer().notNull(),
    holds: integer().notNull().default(0),
    reserve_percent: text().notNull().default('100'),
    acknowledged_by: text(),
    acknowledged_reason: text(),
    acknowledged_at: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.case_id] })],
)

/** What persons decided of cases; `refuse` and `seen` are JSON. */
export const fraudDecisions = /* @__PURE__ */ sqliteTable(
  'fraud_decisions',
  () => ({
    account: text().notNull(),
    case_id: text().notNull(),
    position: integer().notNull(),
    decision: text({ enum: ['confirmed', 'dismissed'] }).notNull(),
    reason: text().notNull(),
    keep_hold: integer().notNull(),
    refuse: text().notNull(),
    from_day: integer(),
    seen: text().notNull(),
    shown: text().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.case_id, t.position] })],
)

/** What persons wrote about cases. */
export const fraudNotes = /* @__PURE__ */ sqliteTable(
  'fraud_notes',
  () => ({
    account: text().notNull(),
    case_id: text().notNull(),
    id: text().notNull(),
    text: text().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.case_id, t.id] })],
)

/** Which plan governs the customers of an affiliate, from a day on. */
export const assignments = /* @__PURE__ */ sqliteTable(
  'assignments',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    from_day: text().notNull(),
    plan: text().notNull(),
    customers: text({ enum: ['new', 'all'] }).notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id, t.from_day] })],
)

/** Customers of every vertical. */
export const customers = /* @__PURE__ */ sqliteTable(
  'customers',
  () => ({
    account: text().notNull(),
    customer_id: id().notNull(),
    signup_date: instant(),
    last_modified_date: instant(),
    affiliate_id: text(),
    tracking_data: text(),
    lang_id: text(),
    country_code: text(),
    kyc_status_id: text(),
    sales_status_id: text(),
    challenge_type: text(),
    phase: text(),
    account_size: real(),
    trading_account_type: text(),
    leverage: text(),
    first_name: text(),
    last_name: text(),
    email: text(),
    day: day().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
    regtime: text(),
    extras: text(),
    first_day: day(),
    verdict: text({ enum: ['attributed', 'altered', 'foreign', 'unrecognised', 'conflict'] }),
    link: text(),
    first_seen_at: integer(),
    first_seen_day: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.customer_id] })],
)

/** Financial events on trader accounts. */
export const transactions = /* @__PURE__ */ sqliteTable(
  'transactions',
  () => ({
    account: text().notNull(),
    transaction_id: id().notNull(),
    customer_id: id().notNull(),
    transaction_type: text().notNull(),
    amount_currency: real().notNull(),
    currency: text().notNull(),
    transaction_date: instant().notNull(),
    status: text().notNull(),
    amount_usd: real(),
    transaction_subtype: text(),
    note: text(),
    day: day().notNull(),
    held: integer().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.day, t.customer_id, t.transaction_id] }),
    uniqueIndex('transactions_key').on(t.account, t.transaction_id),
  ],
)

/** The resource `trading-activity`: one row per day, customer, instrument and currency. */
export const activity = /* @__PURE__ */ sqliteTable(
  'activity',
  () => ({
    account: text().notNull(),
    date: day().notNull(),
    customer_id: id().notNull(),
    instrument: text().notNull(),
    currency: text().notNull(),
    lots_traded: real().notNull(),
    pnl: real(),
    drawdown: real(),
    max_drawdown: real(),
    volume_usd: real(),
    spread_cost: real(),
    commission: real(),
    held: integer().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.date, t.customer_id, t.instrument, t.currency] })],
)

/** The resource `activities`: events of brand customers. */
export const events = /* @__PURE__ */ sqliteTable(
  'events',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    eventname: text().notNull(),
    customer_id: id().notNull(),
    eventid: text(),
    createtime: instant(),
    amount: real(),
    currency: text(),
    product: text(),
    kpis: text(),
    details: text(),
    record: text().notNull(),
    day: day().notNull(),
    first_day: day().notNull(),
    held: integer().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.day, t.customer_id, t.id] }),
    uniqueIndex('events_key').on(t.account, t.id),
  ],
)

/** Changes of the affiliates of customers, by day. */
export const customerAffiliations = /* @__PURE__ */ sqliteTable(
  'customer_affiliations',
  () => ({
    account: text().notNull(),
    customer_id: id().notNull(),
    day: day().notNull(),
    affiliate_id: text(),
    link: text(),
    previous_affiliate_id: text(),
    previous_link: text(),
    delivery: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.customer_id, t.day] })],
)

/** Changes of the customer fields that plans use, by day: the values before each. */
export const customerFields = /* @__PURE__ */ sqliteTable(
  'customer_fields',
  () => ({
    account: text().notNull(),
    customer_id: id().notNull(),
    day: day().notNull(),
    country_code: text(),
    trading_account_type: text(),
    challenge_type: text(),
    phase: text(),
    kyc_status_id: text(),
    sales_status_id: text(),
    account_size: real(),
    link: text(),
    delivery: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.customer_id, t.day] })],
)

/** Customers who earn nothing from a day on. */
export const customerRefusals = /* @__PURE__ */ sqliteTable(
  'customer_refusals',
  () => ({
    account: text().notNull(),
    customer_id: id().notNull(),
    day: day().notNull(),
    reason: text().notNull(),
    refused_at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.customer_id] })],
)

/** Changes of the parents of affiliates, by day. */
export const affiliateParents = /* @__PURE__ */ sqliteTable(
  'affiliate_parents',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    day: day().notNull(),
    parent: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id, t.day] })],
)

/** The number of records of an account by resource, and of its held records, which `total` leaves out. */
export const totals = /* @__PURE__ */ sqliteTable(
  'totals',
  () => ({
    account: text().notNull(),
    resource: text().notNull(),
    total: integer().notNull(),
    held: integer().notNull().default(0),
    releasing: text(),
    released_at: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.resource] })],
)

/** The delivery log. `unknown_at`, `stale_at`, `moved`, `erased_at`: JSON arrays of positions in the request, not times. */
export const deliveries = /* @__PURE__ */ sqliteTable(
  'deliveries',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    attempt: integer().notNull(),
    received_at: integer().notNull(),
    resource: text().notNull(),
    form: text({ enum: ['object', 'array', 'data'] }).notNull(),
    dry_run: integer().notNull(),
    lenient: integer().notNull(),
    received: integer().notNull(),
    errors_total: integer().notNull(),
    rejected: integer().notNull(),
    refused: integer().notNull(),
    held: integer().notNull(),
    stale: integer().notNull(),
    created: integer().notNull(),
    listed: integer().notNull(),
    written: integer().notNull().default(0),
    held_written: integer().notNull().default(0),
    errors: text(),
    unknown_at: text(),
    unknown_keys: text(),
    stale_at: text(),
    moved: text(),
    erased_at: text(),
    verdicts: text(),
    reused: integer().notNull(),
    yesterday: integer().notNull(),
    today: integer().notNull(),
    written_bytes: integer().notNull().default(0),
    over_quota: integer(),
    days: text().notNull().default('[]'),
    held_change: integer().notNull().default(0),
    hold_refused: integer().notNull().default(0),
    record_bytes: integer(),
    received_day: day(),
    changed_events: text(),
    affiliated: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** Codes of errors and ids of refused records, by which deliveries are found. */
export const deliveryTerms = /* @__PURE__ */ sqliteTable(
  'delivery_terms',
  () => ({
    account: text().notNull(),
    day: day().notNull(),
    term: text().notNull(),
    delivery: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.day, t.term, t.delivery] })],
)

/** Control totals of the days that have not changed since they were summed. */
export const dayTotals = /* @__PURE__ */ sqliteTable(
  'day_totals',
  () => ({
    account: text().notNull(),
    resource: text().notNull(),
    day: day().notNull(),
    form: text().notNull(),
    totals: text(),
    computation: text(),
    checked_at: integer().notNull(),
    records: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.resource, t.day] })],
)

/** Idempotency keys, each with a digest of the records of its first use. */
export const idempotencyKeys = /* @__PURE__ */ sqliteTable(
  'idempotency_keys',
  () => ({
    account: text().notNull(),
    resource: text().notNull(),
    key: text().notNull(),
    digest: text().notNull(),
    delivery: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.resource, t.key] })],
)

/** Moves of accounts to other databases; `place` is JSON. */
export const accountMoves = /* @__PURE__ */ sqliteTable(
  'account_moves',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    source: text().notNull(),
    target: text().notNull(),
    status: text({
      enum: [
        'copying',
        'comparing',
        'waiting',
        'switching',
        'switched',
        'dropping',
        'done',
        'cancelling',
        'cancelled',
        'failed',
      ],
    }).notNull(),
    waits_for: text({ enum: ['run', 'reset', 'erasure', 'archive', 'writes'] }),
    place: text(),
    confirmed: integer().notNull().default(0),
    closed_at: integer(),
    pause_ms: integer(),
    reason: text(),
    actor: text().notNull(),
    started_at: text().notNull(),
    switched_at: text(),
    ended_at: text(),
    due_at: integer(),
    attempt: integer().notNull().default(1),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.id] }),
    uniqueIndex('account_moves_active').on(t.account),
  ],
)

/** The files of exports, by resource and month; `sums` is JSON, times are in milliseconds. */
export const exports = /* @__PURE__ */ sqliteTable(
  'exports',
  () => ({
    account: text().notNull(),
    resource: text().notNull(),
    month: text().notNull(),
    part: integer().notNull(),
    id: text().notNull(),
    sha256: text().notNull(),
    bytes: integer().notNull(),
    records: integer().notNull(),
    days: integer().notNull(),
    sign: text().notNull(),
    sums: text().notNull(),
    first_delivery: text(),
    last_delivery: text(),
    version: integer().notNull(),
    written_at: integer().notNull(),
    replaced_at: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.resource, t.month, t.part, t.id] })],
)

/** How far the export of each account is; times are in milliseconds. */
export const exportRuns = /* @__PURE__ */ sqliteTable('export_runs', () => ({
  account: text().primaryKey(),
  run: text().notNull(),
  begun_at: integer().notNull(),
  ended_at: integer(),
  since: integer(),
  whole_at: integer(),
  form: text().notNull(),
}))

/** The freshness of each feed: one row per account, hour (since 1970) and resource. */
export const arrivals = /* @__PURE__ */ sqliteTable(
  'arrivals',
  () => ({
    account: text().notNull(),
    hour: integer().notNull(),
    resource: text().notNull(),
    deliveries: integer().notNull(),
    received: integer().notNull(),
    refused: integer().notNull(),
    last_at: integer().notNull(),
    yesterday: integer().notNull(),
    today: integer().notNull(),
    logged_bytes: integer().notNull().default(0),
    written_bytes: integer().notNull().default(0),
  }),
  (t) => [primaryKey({ columns: [t.account, t.hour, t.resource] })],
)

/** Test accounts whose records are being deleted. */
export const resets = /* @__PURE__ */ sqliteTable('resets', () => ({
  account: text().primaryKey(),
  started_at: text().notNull(),
}))

/** The bytes that each account stores, up to an hour (since 1970). */
export const storage = /* @__PURE__ */ sqliteTable('storage', () => ({
  account: text().primaryKey(),
  bytes: integer().notNull(),
  until_hour: integer().notNull(),
  measured_at: integer(),
  measured_bytes: integer(),
  measuring: text(),
}))

/** Months whose trading activity or daily events are in objects in R2. */
export const archivedMonths = /* @__PURE__ */ sqliteTable(
  'archived_months',
  () => ({
    account: text().notNull(),
    first_day: day().notNull(),
    last_day: integer().notNull(),
    resource: text({ enum: ['trading-activity', 'activities'] }).notNull(),
    state: text({ enum: ['leaving', 'archived', 'loading'] }).notNull(),
    begun_at: integer().notNull(),
    archived_at: integer(),
    records: integer().notNull(),
    days: text().notNull(),
    fault: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.first_day] })],
)

/** Customers whose personal data was erased; their activities before `next_day` and `after_id` are done. */
export const erasures = /* @__PURE__ */ sqliteTable(
  'erasures',
  () => ({
    account: text().notNull(),
    customer_id: id().notNull(),
    erased_at: text().notNull(),
    next_day: integer().default(-719528),
    after_id: text().default(''),
  }),
  (t) => [primaryKey({ columns: [t.account, t.customer_id] })],
)

/** Statements of commissions, by period, affiliate and plan. */
export const statements = /* @__PURE__ */ sqliteTable(
  'statements',
  () => ({
    account: text().notNull(),
    period: text().notNull(),
    affiliate_id: text().notNull(),
    plan: text().notNull(),
    id: text().notNull(),
    status: text({ enum: ['draft', 'approved', 'paid'] }).notNull(),
    hash: text().notNull(),
    digest: text().notNull(),
    payable: text().notNull(),
    closing: text().notNull(),
    statement: text(),
    lines: text().notNull(),
    parts: integer().notNull(),
    state: text().notNull(),
    read_at: integer().notNull(),
    computed_at: text().notNull(),
    previous: text().notNull().default(''),
    approval: text(),
    approved_at: integer(),
    payment: text(),
    returned: text(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.period, t.affiliate_id, t.plan] }),
    uniqueIndex('statements_id').on(t.account, t.id),
  ],
)

/** The lines of long statements from the second part on. */
export const statementLines = /* @__PURE__ */ sqliteTable(
  'statement_lines',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    part: integer().notNull(),
    lines: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id, t.part] })],
)

/** Amounts that the integrations team entered. */
export const manualEntries = /* @__PURE__ */ sqliteTable(
  'manual_entries',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    affiliate_id: text().notNull(),
    plan: text().notNull(),
    currency: text().notNull(),
    amount: text().notNull(),
    reason: text().notNull(),
    reference: text().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
    statement: text(),
    folded_reference: text().notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.id] }),
    uniqueIndex('manual_entries_folded').on(t.account, t.folded_reference),
  ],
)

/** What was paid, by reference. */
export const payments = /* @__PURE__ */ sqliteTable(
  'payments',
  () => ({
    account: text().notNull(),
    reference: text().notNull(),
    affiliate_id: text().notNull(),
    currency: text().notNull(),
    amount: text().notNull(),
    paid_on: text().notNull(),
    statements: text().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
    folded_reference: text().notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.account, t.reference] }),
    uniqueIndex('payments_folded').on(t.account, t.folded_reference),
  ],
)

/** What affiliates earned and were paid: append-only. */
export const ledger = /* @__PURE__ */ sqliteTable(
  'ledger',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    id: text().notNull(),
    kind: text({
      enum: ['earned', 'adjusted', 'manual', 'dropped', 'transferred', 'paid', 'returned'],
    }).notNull(),
    plan: text().notNull(),
    period: text().notNull(),
    statement: text().notNull(),
    currency: text().notNull(),
    amount: text().notNull(),
    reference: text(),
    actor: text().notNull(),
    at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id, t.id] })],
)

/** Runs that compute the statements of a period. */
export const statementRuns = /* @__PURE__ */ sqliteTable(
  'statement_runs',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    period: text().notNull(),
    status: text({ enum: ['running', 'done', 'failed'] }).notNull(),
    affiliates: integer(),
    steps: integer(),
    changed: integer(),
    started_at: text().notNull(),
    ended_at: text(),
    active_at: text().notNull().default(''),
    restarts: integer().notNull().default(0),
    steps_done: integer(),
    reason: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** Past days of which an account keeps the facts, by calendar year. */
export const keptDays = /* @__PURE__ */ sqliteTable(
  'kept_days',
  () => ({
    account: text().notNull(),
    first_day: day().notNull(),
    last_day: integer().notNull(),
    generation: text().notNull(),
    form: text().notNull(),
    summed_from: integer().notNull(),
    begun_at: integer().notNull(),
    ready: integer().notNull(),
    mean: real().notNull().default(0),
  }),
  (t) => [primaryKey({ columns: [t.account, t.first_day] })],
)

/** The facts of a customer on these days, as runs have read them; `rows` is JSON. */
export const keptFacts = /* @__PURE__ */ sqliteTable(
  'kept_facts',
  () => ({
    account: text().notNull(),
    customer_id: id().notNull(),
    first_day: day().notNull(),
    generation: text().notNull(),
    facts: integer().notNull(),
    rows: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.customer_id, t.first_day] })],
)

/** Days of these of which a record has changed since. */
export const changedDays = /* @__PURE__ */ sqliteTable(
  'changed_days',
  () => ({
    account: text().notNull(),
    first_day: day().notNull(),
    generation: text().notNull(),
    day: day().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.first_day, t.generation, t.day] })],
)

/** The addresses to which events are sent, also postbacks of affiliates; their secrets are encrypted. */
export const webhookEndpoints = /* @__PURE__ */ sqliteTable(
  'webhook_endpoints',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    url: text().notNull(),
    events: text().notNull(),
    description: text(),
    secrets: text().notNull(),
    disabled: text({ enum: ['team', 'gone', 'failing'] }),
    failing_since: integer(),
    created_at: text().notNull(),
    affiliate_id: text(),
    method: text({ enum: ['GET', 'POST'] })
      .notNull()
      .default('POST'),
    paused_by_firm: integer().notNull().default(0),
    active_since: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** The log of attempts to send events. */
export const webhookAttempts = /* @__PURE__ */ sqliteTable(
  'webhook_attempts',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    endpoint: text().notNull(),
    event: text().notNull(),
    attempt: integer().notNull(),
    at: integer().notNull(),
    status: integer(),
    ms: integer().notNull(),
    error: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** Changes that the integrations team made; `details` is JSON. */
export const auditLog = /* @__PURE__ */ sqliteTable('audit_log', () => ({
  id: text().primaryKey(),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  account: text(),
  details: text().notNull(),
}))

/** An account as configured. */
export type Account = typeof accounts.$inferSelect

/** A row of the delivery log. */
export type Delivery = typeof deliveries.$inferSelect

/** A move of an account to another database. */
export type AccountMove = typeof accountMoves.$inferSelect

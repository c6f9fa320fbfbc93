// Written by scripts/tables.ts from migrations/: add a migration, then `npm run generate`.

import { integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { day, id, instant } from './column-types.ts'

/** The table `accounts`, which migrations/ describes. */
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

/** The table `clients`, which migrations/ describes. */
export const clients = /* @__PURE__ */ sqliteTable('clients', () => ({
  client_id: text().primaryKey(),
  account: text().notNull(),
  secret_digest: text().notNull(),
  version: integer().notNull().default(1),
  revoked: integer().notNull().default(0),
  created_at: text().notNull(),
  closed: integer().notNull().default(0),
}))

/** The table `client_secrets`, which migrations/ describes. */
export const clientSecrets = /* @__PURE__ */ sqliteTable('client_secrets', () => ({
  digest: text().primaryKey(),
  client_id: text().notNull(),
  ends_at: integer().notNull(),
}))

/** The table `brand_tokens`, which migrations/ describes. */
export const brandTokens = /* @__PURE__ */ sqliteTable('brand_tokens', () => ({
  digest: text().primaryKey(),
  id: text().notNull(),
  account: text().notNull(),
  ends_at: integer(),
  created_at: text().notNull(),
  closed: integer().notNull().default(0),
}))

/** The table `affiliates`, which migrations/ describes. */
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

/** The table `links`, which migrations/ describes. */
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

/** The table `clicks`, which migrations/ describes. */
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

/** The table `event_definitions`, which migrations/ describes. */
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

/** The table `vocabulary`, which migrations/ describes. */
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

/** The table `plan_versions`, which migrations/ describes. */
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

/** The table `assignments`, which migrations/ describes. */
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

/** The table `audit_log`, which migrations/ describes. */
export const auditLog = /* @__PURE__ */ sqliteTable('audit_log', () => ({
  id: text().primaryKey(),
  at: text().notNull(),
  actor: text().notNull(),
  action: text().notNull(),
  account: text(),
  details: text().notNull(),
}))

/** The table `affiliate_keys`, which migrations/ describes. */
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

/** The table `affiliate_members`, which migrations/ describes. */
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

/** The table `affiliate_passkeys`, which migrations/ describes. */
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

/** The table `affiliate_invitations`, which migrations/ describes. */
export const affiliateInvitations = /* @__PURE__ */ sqliteTable(
  'affiliate_invitations',
  () => ({
    account: text().notNull(),
    affiliate_id: text().notNull(),
    id: text().notNull(),
    digest: text().notNull(),
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

/** The table `affiliate_questions`, which migrations/ describes. */
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

/** The table `account_moves`, which migrations/ describes. */
export const accountMoves = /* @__PURE__ */ sqliteTable(
  'account_moves',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    source: text().notNull(),
    target: text().notNull(),
    status: text({
      enum: [
        'waiting',
        'copying',
        'comparing',
        'switched',
        'dropping',
        'done',
        'cancelling',
        'cancelled',
        'failed',
      ],
    }).notNull(),
    waits_for: text({ enum: ['run', 'reset', 'erasure', 'archive'] }),
    place: text(),
    confirmed: integer().notNull().default(0),
    closed_at: integer(),
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

/** The table `customers`, which migrations/ describes. */
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

/** The table `transactions`, which migrations/ describes. */
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

/** The table `activity`, which migrations/ describes. */
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

/** The table `events`, which migrations/ describes. */
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

/** The table `customer_affiliations`, which migrations/ describes. */
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

/** The table `customer_refusals`, which migrations/ describes. */
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

/** The table `erasures`, which migrations/ describes. */
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

/** The table `deliveries`, which migrations/ describes. */
export const deliveries = /* @__PURE__ */ sqliteTable(
  'deliveries',
  () => ({
    account: text().notNull(),
    id: text().notNull(),
    received_at: integer().notNull(),
    resource: text().notNull(),
    form: text({ enum: ['object', 'array', 'data'] }).notNull(),
    dry_run: integer().notNull(),
    received: integer().notNull(),
    errors_total: integer().notNull(),
    rejected: integer().notNull(),
    refused: integer().notNull(),
    held: integer().notNull(),
    stale: integer().notNull(),
    created: integer().notNull(),
    updated: integer().notNull(),
    days: text().notNull(),
    errors: text(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** The table `statement_runs`, which migrations/ describes. */
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
    position: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** The table `manual_entries`, which migrations/ describes. */
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

/** The table `payments`, which migrations/ describes. */
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

/** The table `ledger`, which migrations/ describes. */
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

/** The table `webhook_endpoints`, which migrations/ describes. */
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
    active_since: integer(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** The table `webhook_attempts`, which migrations/ describes. */
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

/** The table `fraud_rule_versions`, which migrations/ describes. */
export const fraudRuleVersions = /* @__PURE__ */ sqliteTable(
  'fraud_rule_versions',
  () => ({
    account: text().notNull(),
    rule: text().notNull(),
    version: integer().notNull(),
    effective_from: text().notNull(),
    terms: text().notNull(),
    created_at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.rule, t.version] })],
)

/** The table `fraud_progress`, which migrations/ describes. */
export const fraudProgress = /* @__PURE__ */ sqliteTable('fraud_progress', () => ({
  account: text().primaryKey(),
  through: integer().notNull(),
  position: integer().notNull(),
  first: integer(),
  last: integer(),
  cursor: text().notNull().default(''),
  too_large: text().notNull().default('[]'),
}))

/** The table `fraud_findings`, which migrations/ describes. */
export const fraudFindings = /* @__PURE__ */ sqliteTable(
  'fraud_findings',
  () => ({
    account: text().notNull(),
    case_id: text().notNull(),
    part: integer().notNull(),
    day: day().notNull(),
    evidence: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.case_id, t.part] })],
)

/** The table `fraud_cases`, which migrations/ describes. */
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

/** The table `fraud_decisions`, which migrations/ describes. */
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
    shown: integer().notNull(),
    actor: text().notNull(),
    at: text().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.account, t.case_id, t.position] })],
)

/** The table `fraud_notes`, which migrations/ describes. */
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

/** The table `exports`, which migrations/ describes. */
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

/** The table `export_runs`, which migrations/ describes. */
export const exportRuns = /* @__PURE__ */ sqliteTable('export_runs', () => ({
  account: text().primaryKey(),
  run: text().notNull(),
  begun_at: integer().notNull(),
  ended_at: integer(),
  since: integer(),
  whole_at: integer(),
  position: integer().notNull(),
  since_position: integer(),
  form: text().notNull(),
}))

/** An account as configured. */
export type Account = typeof accounts.$inferSelect

/** A row of the delivery log. */
export type Delivery = typeof deliveries.$inferSelect

/** A move of an account to another database. */
export type AccountMove = typeof accountMoves.$inferSelect

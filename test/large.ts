import { env } from 'cloudflare:workers'
import { NO_STATE } from '../src/commission/engine/state.ts'
import { newDeliveryId } from '../src/ingest/delivery-id.ts'

/** `npm run worlds -- fuzz` fills accounts with ten times as many records and customers. */
const SCALE = env.FUZZ_RUNS > 0 ? 10 : 1

/** The sizes of a filled account. */
export const SIZES = {
  records: 10_000 * SCALE,
  customers: 2500 * SCALE,
  affiliates: 1000,
  /** As many as a search looks through. */
  deliveries: 10_000,
  /** The refused ones beside. */
  refused: 500,
  held: 300,
  erasures: 1000,
  statements: 1000,
  plans: 200,
  fraudRules: 50,
  cases: 2000,
  /** The parts of the findings of the first case, each of which names one record. */
  parts: 200,
  definitions: 200,
  credentials: 200,
  /** The days on which it has records, from `FIRST_DAY` on. */
  days: 400,
  /** The records of the first customer, half of them on the first day. */
  ofFirstCustomer: 5000,
}

/** A fraud rule, as it is stored. */
const FRAUD_RULE = {
  ...{ kind: 'signup_burst', name: 'R', severity: 'low', action: 'flag', disabled: false },
  ...{
    scope: { affiliates: ['*'] },
    parameters: { min: 20, times: '5' },
    effective_from: '2026-01-01',
  },
}

/** A statement of nothing, as it is stored. */
const EMPTY_STATEMENT = {
  id: 'stm',
  affiliate_id: 'a',
  plan: 'p',
  period: '2026-10',
  currency: 'EUR',
  opening: '0.00',
  lines_sum: '0.00',
  adjustments_sum: '0.00',
  manual_sum: '0.00',
  total: '0.00',
  payable: '0.00',
  closing: '0.00',
  dropped: '0.00',
  transferred: null,
  received: [],
  holds: [],
  manual: [],
  lines_total: 0,
  adjustments_total: 0,
  payable_on: '2026-11-14',
}

/** 2025-10-02 as it is stored: the first day with records. */
export const FIRST_DAY = 20_363

const ID = (prefix: string, i = 'i') => `'${prefix}-' || printf('%06d', ${i})`
const DAY = `${FIRST_DAY} + iif(i < ${SIZES.ofFirstCustomer / 2}, 0, i % ${SIZES.days})`
const CUSTOMER = ID('c', `iif(i < ${SIZES.ofFirstCustomer}, 0, i % ${SIZES.customers})`)

/** Returns a statement that inserts `n` rows; the row number is `i`. `?1` is the account. */
const insert = (n: number, table: string, columns: string, values: string) => `
  with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${n})
  insert into ${table} (${columns}) select ${values} from n`

const deliveryRow = `account, id, attempt, received_at, resource, form, dry_run, lenient, received,
  errors_total, rejected, refused, held, stale, created, listed, written, reused, yesterday, today`

const stored = 'held, delivery, idx, revision'

/** The terms of a plan. */
const EMPTY_PLAN = {
  name: 'P',
  currency: 'EUR',
  period: 'month',
  effective_from: '2026-01-01',
  terms: 'current',
  negative: 'carry',
  minimum_payout: '0',
  hold_days: 0,
  rules: [{ id: 'welcome', kind: 'once', trigger: { signup: true }, amount: '1' }],
}

/** Stores what a large account has, with a few statements. Returns the beginning of its delivery ids. */
export async function fillAccount(account: string, vertical: 'forex' | 'igaming') {
  const now = Date.now()
  const today = Math.floor(now / 86_400_000)
  const delivery = newDeliveryId(now - 60_000).slice(0, 14)
  const { records, customers, affiliates, deliveries, held, erasures } = SIZES
  const ofVertical =
    vertical === 'forex'
      ? [
          insert(
            records,
            'transactions',
            `account, transaction_id, customer_id, transaction_type, amount_currency, currency,
             transaction_date, status, day, ${stored}`,
            `?1, ${ID('t')}, ${CUSTOMER}, 'deposit', 1, 'EUR', (${DAY}) * 86400000, 'approved', ${DAY},
             0, '${delivery}0000000000000000', 0, 1`,
          ),
          insert(
            records,
            'activity',
            `account, date, customer_id, instrument, currency, lots_traded, ${stored}`,
            `?1, ${DAY}, ${CUSTOMER}, ${ID('i')}, 'EUR', 1, 0, '${delivery}0000000000000000', 0, 1`,
          ),
          insert(
            held,
            'transactions',
            `account, transaction_id, customer_id, transaction_type, amount_currency, currency,
             transaction_date, status, day, ${stored}`,
            `?1, ${ID('h')}, ${ID('x')}, 'deposit', 1, 'EUR', (${DAY}) * 86400000, 'approved', ${DAY},
             1, '${delivery}0000000000000000', 0, 1`,
          ),
        ]
      : [
          insert(
            records,
            'events',
            `account, id, eventname, customer_id, amount, currency, kpis, record, day, first_day, ${stored}`,
            `?1, ${ID('e e')}, 'Bet', ${CUSTOMER}, 1, 'EUR', '{"Bets":1}', '{"eventname":"Bet","customerid":"c","Value":"1","Currency":"EUR"}', ${DAY}, ${DAY},
             0, '${delivery}0000000000000000', 0, 1`,
          ),
          insert(
            SIZES.definitions,
            'event_definitions',
            'account, eventname, granularity, eventid, kpis',
            `?1, ${ID('Event')}, 'event', 'used', '[]'`,
          ),
          insert(
            SIZES.credentials,
            'brand_tokens',
            'account, digest, id, ends_at, created_at',
            `?1, printf('%064x', i), ${ID('b')}, 1, '2026-01-01T00:00:00.000Z'`,
          ),
        ]
  const statements = [
    insert(
      affiliates,
      'affiliates',
      'account, affiliate_id, parent',
      `?1, ${ID('aff')}, iif(i = 0, null, 'aff-000000')`,
    ),
    insert(
      customers,
      'customers',
      'account, customer_id, signup_date, affiliate_id, tracking_data, verdict, day, delivery, idx, revision',
      `?1, ${ID('c')}, (${DAY}) * 86400000, ${ID('aff', `i % (2 * ${affiliates})`)}, 'x', 'unrecognised', ${DAY},
       '${delivery}0000000000000000', 0, 1`,
    ),
    insert(
      deliveries,
      'deliveries',
      deliveryRow,
      `?1, '${delivery}' || printf('%016d', i), 1, ${now} - 60000, 'customers', 'array', 0, 0, 1, 0, 0, 0,
       0, 0, 1, 0, 1, 0, 0, 0`,
    ),
    // Refused ones, which the triggers make findable. Each tenth has the same code.
    insert(
      SIZES.refused,
      'deliveries',
      `${deliveryRow}, errors`,
      `?1, '${delivery}' || printf('%015dR', i), 1, ${now} - 60000, 'customers', 'array', 0, 0, 1, 1, 1, 1,
       0, 0, 0, 0, 0, 0, 0, 0, json_array(json_object(
         'kinds', json_array(json_array('/email', iif(i % 10 = 0, 'unknown_customer', 'email'), 'm')),
         'records', json_array(json_array(0, json_array(0), 'r-' || (i % 500), json_object()))))`,
    ),
    insert(
      2160,
      'arrivals',
      'account, hour, resource, deliveries, received, refused, last_at, yesterday, today',
      `?1, ${Math.floor(now / 3_600_000)} - i / 3, 'x' || (i % 3), 1, 1, 0, ${now}, 0, 0`,
    ),
    insert(
      erasures,
      'erasures',
      'account, customer_id, erased_at',
      `?1, ${ID('c')}, '2026-01-01T00:00:00.000Z'`,
    ),
    insert(
      SIZES.statements,
      'statements',
      `account, period, affiliate_id, plan, id, status, hash, digest, payable, closing, statement,
       lines, parts, state, read_at, computed_at`,
      `?1, '2026-10', ${ID('aff')}, 'p', ${ID('stm')}, 'draft', printf('%064x', i),
       printf('%064x', i), '0', '0',
       json_set('${JSON.stringify(EMPTY_STATEMENT)}', '$.id', ${ID('stm')}),
       '[]', 1, '{}', 0, '2026-10-05T09:00:00.000Z'`,
    ),
    insert(
      SIZES.statements,
      'statements',
      `account, period, affiliate_id, plan, id, status, hash, digest, payable, closing, statement,
       lines, parts, state, read_at, computed_at, approval, approved_at`,
      `?1, '2026-09', ${ID('aff')}, 'due', ${ID('due')}, 'approved', printf('%064x', i),
       printf('%064x', i), '1.00', '0',
       json_set('${JSON.stringify({ ...EMPTY_STATEMENT, payable: '1.00' })}', '$.id', ${ID('due')}),
       '[]', 1, '${JSON.stringify(NO_STATE)}', 0, '2026-10-05T09:00:00.000Z', 'x', 1`,
    ),
    insert(
      SIZES.statements,
      'ledger',
      'account, affiliate_id, id, kind, plan, period, statement, currency, amount, actor, at',
      `?1, 'aff-000000', ${ID('l')}, 'earned', 'p', '2026-09', 's', 'EUR', '1.00', 'x', '2026-10-05T09:00:00.000Z'`,
    ),
    insert(
      SIZES.statements,
      'manual_entries',
      `account, id, affiliate_id, plan, currency, amount, reason, reference, actor, at,
       folded_reference`,
      `?1, ${ID('m')}, ${ID('aff')}, 'p', 'EUR', '1.00', 'x', ${ID('m')}, 'x', '2026-10-05T09:00:00.000Z',
       ${ID('m')}`,
    ),
    insert(
      SIZES.statements,
      'payments',
      `account, reference, affiliate_id, currency, amount, paid_on, statements, actor, at,
       folded_reference`,
      `?1, ${ID('r')}, ${ID('aff')}, 'EUR', '1.00', '2026-10-05', '[]', 'x', '2026-10-05T09:00:00.000Z',
       ${ID('r')}`,
    ),
    insert(
      SIZES.fraudRules,
      'fraud_rule_versions',
      'account, rule, version, effective_from, terms, created_at',
      `?1, ${ID('r')}, 1, '2026-01-01', '${JSON.stringify(FRAUD_RULE)}',
       '2026-01-01T00:00:00.000Z'`,
    ),
    insert(
      SIZES.cases,
      'fraud_cases',
      `account, id, affiliate_id, rule, subject, position, version, kind, severity, action, status,
       opened_for, opened_at, last_day, figures, sentence, evidence_count, evidence_digest`,
      `?1, ${ID('case')}, ${ID('aff', `i % ${affiliates}`)}, ${ID('r', 'i % 50')}, 'affiliate:a',
       i, 1, 'signup_burst', 'high', 'flag', iif(i % 2, 'open', 'expired'), ${FIRST_DAY} + i % 400,
       0, ${FIRST_DAY} + 400, '[]', 'x', ${SIZES.parts}, ''`,
    ),
    insert(
      SIZES.cases,
      'fraud_ended_holds',
      `account, case_id, affiliate_id, rule, name, subject, sentence, because, opened_at, ended_at`,
      `?1, ${ID('case')}, ${ID('aff', `i % ${affiliates}`)}, ${ID('r', 'i % 50')}, 'x',
       'affiliate:a', 'x', 'rule', 0, ${FIRST_DAY} + i % 400`,
    ),
    insert(
      SIZES.cases,
      'affiliate_questions',
      'account, id, affiliate_id, about, subject, statement, status, asked_at',
      `?1, ${ID('q')}, ${ID('aff', `i % ${affiliates}`)}, 'statement', 'x', ${ID('stm')},
       iif(i % 2, 'open', 'closed'), '2026-01-01T00:00:00.000Z'`,
    ),
    insert(
      SIZES.cases,
      'affiliate_question_messages',
      'account, question, position, id, side, author, at, text',
      `?1, ${ID('q')}, 1, 'm', 'affiliate', 'affiliate-member m',
       '2026-01-01T00:00:00.000Z', 'x'`,
    ),
    insert(
      SIZES.parts,
      'fraud_findings',
      'account, affiliate_id, rule, subject, day, part, version, figures, sentence, evidence',
      `?1, ${ID('aff', '1')}, ${ID('r', '1')}, 'affiliate:a', ${FIRST_DAY} + 1, i, 1, '[]', 'x',
       json_array(json_array('customers', ${ID('c', 'i % 2500')}, ${FIRST_DAY}, ${ID('c', 'i % 2500')}, 'd'))`,
    ),
    insert(
      SIZES.plans,
      'plan_versions',
      'account, plan, version, effective_from, terms, created_at',
      `?1, ${ID('p')}, 1, '2026-01-01', '${JSON.stringify(EMPTY_PLAN)}',
       '2026-01-01T00:00:00.000Z'`,
    ),
    insert(
      SIZES.affiliates,
      'assignments',
      'account, affiliate_id, from_day, plan, customers',
      `?1, ${ID('aff')}, '9998-01-01', 'p', 'new'`,
    ),
    insert(
      1,
      'statement_runs',
      'account, id, period, status, started_at',
      `?1, 'run_1', '2026-10', 'running', '2026-10-05T09:00:00.000Z'`,
    ),
    insert(
      1000,
      'statement_run_steps',
      'account, run, step, affiliates',
      `?1, 'run_1', i + 1, '[]'`,
    ),
    insert(
      affiliates,
      'links',
      'account, link_id, affiliate_id, landing_page, created_at',
      `?1, printf('${vertical === 'forex' ? 'f' : 'b'}%07d', i), ${ID('aff')}, 'https://a.example/', '2026-01-01T00:00:00.000Z'`,
    ),
    insert(
      records,
      'clicks',
      'account, day, link_id, click_id, clicked_at',
      `?1, ${today} - i % 30, ${ID('l', 'i % 100')}, ${ID('k')}, ${now}`,
    ),
    insert(
      affiliates,
      'audit_log',
      'account, id, at, actor, action, details',
      `?1, ?1 || ${ID('')}, '2026-01-01T00:00:00.000Z', 'x', 'x', '{}'`,
    ),
    ...['status', 'kyc_status_id', 'sales_status_id'].map((field) =>
      insert(
        500,
        'vocabulary',
        'account, field, word, means',
        `?1, '${field}', ${ID('w')}, 'approved'`,
      ),
    ),
    insert(
      SIZES.credentials,
      'clients',
      'account, client_id, secret_digest, created_at, revoked',
      `?1, ?1 || ${ID('')}, printf('%064x', i), '2026-01-01T00:00:00.000Z', 1`,
    ),
    ...ofVertical,
  ]
  const totals =
    vertical === 'forex'
      ? { customers, transactions: records, 'trading-activity': records }
      : { customers, activities: records }
  await env.DB.batch([
    ...statements.map((text) => env.DB.prepare(text).bind(account)),
    ...Object.entries(totals).map(([resource, total]) =>
      env.DB.prepare(
        'insert into totals (account, resource, total, held) values (?, ?, ?, ?)',
      ).bind(account, resource, total, resource === 'transactions' ? held : 0),
    ),
  ])
  return delivery
}

import { getStatement } from '../../commission/operations/statements.ts'
import { rateWords, ruleWords } from '../../commission/plans/plan-words.ts'
import type { PlanTerms } from '../../commission/plans/types.ts'
import { statementOfLine } from '../../commission/run/ids.ts'
import type { RecordEarnings } from '../../commission/shapes/explanations.ts'
import { getEarnings } from '../../commission/why/operations.ts'
import { figure, money } from '../../commission/words/english.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { useVisit, type Visit } from '../../pages/base/page.ts'
import { Badge, Data, periodWords } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import type { FoundRecord } from '../../pages/parts/record-lookup.ts'
import { StatusBadge } from '../../pages/parts/statement-lists.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { WholeStatement } from '../books/statement-parts.tsx'
import { NextStep, Reason, readTerms, sentenceOf, type TermsOf, type Unearned } from './reasons.tsx'

// What a record earns, in sentences: the lines that count it, or the reason why none does.

type Line = RecordEarnings['lines'][number]

interface Earned {
  readonly found: FoundRecord
  readonly earnings: RecordEarnings
  readonly termsOf: TermsOf
  readonly statements: ReadonlyMap<string, WholeStatement>
}

async function readStatements({ api, account }: Visit, lines: readonly Line[]) {
  const ids = new Set(lines.flatMap(({ line_id }) => statementOfLine(line_id) ?? []))
  const read = await Promise.all(
    [...ids].map(async (statement_id) => {
      const found = await api.call(getStatement, { account, statement_id }).catch(nullIfNotFound)
      return found ? [[statement_id, found] as const] : []
    }),
  )
  return new Map(read.flat())
}

/** Computes and renders what a record earns. */
export async function renderEarnings(visit: Visit, found: FoundRecord) {
  const { api, account } = visit
  const { resource, id } = found
  const earnings = await api.call(getEarnings, { account, resource, id })
  const [termsOf, statements] = await Promise.all([
    readTerms(visit, [earnings.state, ...earnings.rules, ...earnings.lines]),
    readStatements(visit, earnings.lines),
  ])
  return <Earnings found={found} earnings={earnings} termsOf={termsOf} statements={statements} />
}

function Earnings(props: Earned) {
  const { earnings } = props
  const { affiliate_id, lines, state } = earnings
  const others = earnings.rules.filter(
    ({ reason, rule, plan }) =>
      reason !== 'counted' && (rule !== state.rule || plan !== state.plan),
  )
  return (
    <>
      {lines.length > 0 ? (
        <Table
          caption="Lines of statements that count it"
          rows={lines}
          columns={{
            Adds: ({ base, units, currency }) =>
              base === null ? units && figure(units) : money(base, currency),
            Rate: (line) => rateOf(line, props.termsOf(line)),
            Rule: ({ rule }) => <Data text={rule} />,
            Plan: 'plan',
            For: 'affiliate_id',
            Line: (line) => {
              const statement = props.statements.get(statementOfLine(line.line_id) ?? '')
              if (!statement) return <Badge tone="quiet">Not computed yet</Badge>
              return (
                <>
                  <AccountLink at={['lines', line.line_id]}>{periodWords(line.period)}</AccountLink>{' '}
                  <StatusBadge {...statement} />
                </>
              )
            },
          }}
        />
      ) : (
        state.reason !== 'counted' && <Nothing {...props} />
      )}
      {others.length !== 0 && (
        <>
          <h3>Rules that do not count it</h3>
          <ul>
            {others.map((outcome) => (
              <li>
                <Reason unearned={unearnedOf(props, outcome)} termsOf={props.termsOf} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="note">
        Affiliate of the customer on that day: <AffiliateLink id={affiliate_id} />
      </p>
    </>
  )
}

/** Returns an outcome of a record with what the links of its next step need. */
function unearnedOf(
  { found: { customer_id }, earnings }: Pick<Earned, 'found' | 'earnings'>,
  outcome: RecordEarnings['state'],
): Unearned {
  return { ...outcome, customer_id, affiliate_id: earnings.affiliate_id }
}

/** Renders the reason why a record earned nothing, with the next step as a button. */
function Nothing({ found, earnings, termsOf }: Earned, visit = useVisit()) {
  const unearned = unearnedOf({ found, earnings }, earnings.state)
  const sentence = sentenceOf(visit, unearned, termsOf)
  const terms = termsOf(unearned)
  const rule = terms?.rules.find(({ id }) => id === unearned.rule)
  return (
    <div class="notice why">
      <p>
        <strong>It earned nothing.</strong> <Data text={sentence} />
      </p>
      <p>
        Next: <NextStep unearned={unearned} />
      </p>
      {terms && rule && (
        <p class="note">
          <Data text={`The rule “${rule.id}” of ${terms.name}: ${ruleWords(rule, terms).pays}`} />
        </p>
      )}
    </div>
  )
}

/** Returns the rate of the rule of a line; null if its terms are not known. */
function rateOf({ rule: id }: Line, terms: PlanTerms | null): string | null {
  const rule = terms?.rules.find((one) => one.id === id)
  return terms && rule ? rateWords(rule, terms) : null
}

import { explanationText } from '../../commission/engine/explain.ts'
import type { PlanTerms } from '../../commission/engine/plan.ts'
import { ruleWords } from '../../commission/engine/plan-words.ts'
import { counted } from '../../commission/engine/reasons.ts'
import type { AdjustmentExplanation } from '../../commission/why/answers.ts'
import { escapeStrings } from '../../commission/why/escape-strings.ts'
import { adjustmentSentences, changeText } from '../../commission/why/explain.ts'
import type { Explanation } from '../../commission/why/steps.ts'
import { type PlanNames, useVisit } from '../page.ts'
import { CustomerLink } from './customers.tsx'
import { Data, isolated, Sentence } from './data.tsx'
import { AccountLink, Facts } from './fields.tsx'
import { AffiliateLink } from './names.tsx'

// The explanation of a line or an adjustment.

/** What `GET …/lines/{line_id}/explain` returns. */
export type Explained = Explanation | AdjustmentExplanation

/** Returns an explanation in which plans have their names in place of their ids. */
const withPlanNames = (explained: Explained, names: PlanNames): Explained =>
  JSON.parse(
    JSON.stringify(explained, (member, value) =>
      member === 'plan' ? (names.get(value) ?? value) : value,
    ),
  )

/** Returns an explanation in sentences, without its title. */
const sentencesOf = (explanation: Explanation): string[] =>
  explanationText(escapeStrings(explanation)).split('\n').slice(1).filter(Boolean)

const Sentences = ({ sentences }: { sentences: readonly string[] }) => (
  <ol class="sentences">
    {sentences.map((sentence) => (
      <li>
        <Sentence text={sentence} />
      </li>
    ))}
  </ol>
)

type Cause = AdjustmentExplanation['causes'][number] & { readonly delivery_id?: string | null }

/** Renders what changed after an approval, each with the delivery that changed it. */
const Causes = ({ explained }: { explained: AdjustmentExplanation }) => {
  const causes: readonly Cause[] = explained.causes
  const more = explained.causes_total - causes.length
  if (causes.length === 0) {
    return <p>No cause was found: some changes are logged for 30 days only.</p>
  }
  return (
    <>
      <h2>What changed after the last approval</h2>
      <ul>
        {causes.map((cause) => (
          <li>
            <Data text={capital(changeText(cause))} />
            {cause.delivery_id ? ', by ' : '.'}
            {cause.delivery_id && (
              <AccountLink at={['deliveries', cause.delivery_id]}>this delivery</AccountLink>
            )}
          </li>
        ))}
        {more > 0 && <li>{counted(more, 'other change')}</li>}
      </ul>
    </>
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What a page shows of the statement that has a line or an adjustment. */
interface Statement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
}

/** Renders whose records a line counts. */
function Scope({ scope }: { scope: string }, visit = useVisit()) {
  const [kind = '', ...rest] = scope.split(':')
  const name = rest.join(':')
  if (kind === 'customer') return <CustomerLink account={visit.account} id={name} />
  if (kind === 'affiliate' && name) return <AffiliateLink id={name} />
  return kind === 'product' ? <Data text={name || 'none'} /> : 'All customers'
}

/** What the counted are called, by the kind of the scope. */
const COUNTED: Readonly<Record<string, string>> = {
  customer: 'Customer',
  product: 'Product',
}

/** Renders what an explanation is about: a line, or an adjustment. */
export const Head = (props: {
  statement: Statement
  line: Pick<Explanation['line'], 'rule' | 'version' | 'scope'> | null
}) => (
  <Facts
    row={props.statement}
    names={['affiliate_id', 'plan', 'period']}
    more={
      props.line
        ? [
            ['Rule', `${isolated(props.line.rule)}, version ${props.line.version}`],
            [
              props.line.scope.startsWith('affiliate:')
                ? 'For the affiliate below'
                : (COUNTED[props.line.scope.split(':')[0] ?? ''] ?? 'Counts'),
              <Scope scope={props.line.scope} />,
            ],
          ]
        : []
    }
  />
)

/** Renders the rule of a line in words. */
export function RuleInWords({
  explained,
  terms,
}: {
  explained: Explained
  terms: PlanTerms | null
}) {
  const line = 'of' in explained ? explained.now?.line : explained.line
  const rule = terms?.rules.find(({ id }) => id === line?.rule)
  if (!terms || !rule) return null
  const { pays, limits } = ruleWords(rule, terms)
  return (
    <section class="rule">
      <h2>
        The rule “{isolated(rule.id)}” of <Data text={terms.name} />
      </h2>
      <ul class="rule-words">
        {[pays, ...limits].map((sentence) => (
          <li>
            <Data text={sentence} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Renders an explanation in sentences; of an adjustment also what changed and the line as it is now. */
export async function ExplanationView(props: { explained: Explained }, visit = useVisit()) {
  const explained = withPlanNames(props.explained, await visit.names.plans())
  if (!('of' in explained)) return <Sentences sentences={sentencesOf(explained)} />
  return (
    <>
      <Sentences sentences={adjustmentSentences(escapeStrings(explained))} />
      <Causes explained={explained} />
      {explained.now && (
        <>
          <h2>The line as it is computed now</h2>
          <Sentences sentences={sentencesOf(explained.now)} />
        </>
      )}
    </>
  )
}

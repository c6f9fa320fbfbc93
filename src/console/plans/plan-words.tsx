import { type RuleWords, ruleWords, termsWords } from '../../commission/plans/plan-words.ts'
import type { PlanTerms } from '../../commission/plans/types.ts'
import { Data, isolated } from '../../pages/parts/data.tsx'

// Plans in words.

/** Returns the sentences of a rule, what it pays for first. */
export const sentencesOf = ({ pays, limits }: RuleWords): string[] => [pays, ...limits]

/** Renders sentences. Those that the version before lacks are marked, and those that it had are struck out. */
export const Sentences = ({
  now,
  before,
}: {
  now: readonly string[]
  before: readonly string[] | null
}) => (
  <ul class="rule-words">
    {now.map((sentence) => (
      <li>
        {before === null || before.includes(sentence) ? (
          <Data text={sentence} />
        ) : (
          <ins>
            <Data text={sentence} />
          </ins>
        )}
      </li>
    ))}
    {before
      ?.filter((sentence) => !now.includes(sentence))
      .map((sentence) => (
        <li>
          <del>
            <Data text={sentence} />
          </del>
        </li>
      ))}
  </ul>
)

interface InWordsProps {
  readonly terms: PlanTerms
  readonly before: PlanTerms | undefined
  /** Whether each rule leads to its fields in the form of the page. */
  readonly isOutline?: true
}

/** Renders the terms of a version in words, and what it changes of those before. */
export function InWords({ terms, before, isOutline }: InWordsProps) {
  const rulesOf = (one: PlanTerms | undefined) =>
    new Map(one?.rules.map((rule) => [rule.id, sentencesOf(ruleWords(rule, one))]))
  const [rules, former] = [rulesOf(terms), rulesOf(before)]
  const place = (id: string) => terms.rules.findIndex((rule) => rule.id === id)
  return (
    <>
      {[...new Set([...rules.keys(), ...former.keys()])].map((id) => (
        <section class="rule">
          <h3>
            {!rules.has(id) ? (
              <del>{isolated(id)}</del>
            ) : isOutline ? (
              <a href={`#rules/${place(id)}`}>
                Rule {place(id) + 1}: <Data text={id} />
              </a>
            ) : (
              <Data text={id} />
            )}
          </h3>
          <Sentences now={rules.get(id) ?? []} before={before ? (former.get(id) ?? []) : null} />
        </section>
      ))}
      <section class="rule">
        <h3>Statements</h3>
        <Sentences now={termsWords(terms)} before={before ? termsWords(before) : null} />
      </section>
    </>
  )
}

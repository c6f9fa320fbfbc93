import { getAccount } from '../../accounts/accounts.ts'
import { checkShape } from '../../fraud/check-rule.ts'
import { getFraudRule } from '../../fraud/operations/fraud-rules.ts'
import { parseField } from '../../pages/form.ts'
import type { Page, Visit } from '../../pages/page.ts'
import { dayWords, Name } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters, type Input, type Option } from '../../pages/parts/forms.tsx'
import { ApiError } from '../../platform/errors.ts'
import { computeBackTest } from './back-test.tsx'
import { type FraudVersion, lastDays, RuleInWords } from './fraud-rule-form.tsx'

const ruleOf = ({ params }: Visit): string => params.rule ?? ''

/** Reads the account and the versions of the rule; a rule that is only typed has none. */
async function readKnown(visit: Visit) {
  const { api, account: id } = visit
  const [account, versions] = await Promise.all([
    api.call(getAccount, { account: id }),
    api.call(getFraudRule, { account: id, rule: ruleOf(visit) }).then(
      (found) => found.versions,
      (error) => {
        // A rule that is only typed has no versions.
        if (error instanceof ApiError && error.code === 'not_found' && visit.query.terms) return []
        throw error
      },
    ),
  ])
  return { account, versions }
}

/** Returns the terms that are tested instead of the stored versions; undefined if none are. */
function chosenTerms({ query }: Visit, versions: readonly FraudVersion[]): unknown {
  if (query.terms) return parseField(query.terms)
  return versions.find(({ version }) => `${version}` === query.version)?.terms
}

const versionField = (versions: readonly FraudVersion[]): Input => ({
  name: 'version',
  label: 'Terms',
  options: [
    ['', 'As they applied on each day'],
    ...versions.map(
      ({ version, effective_from }): Option => [
        `${version}`,
        `Version ${version}, from ${dayWords(effective_from)}, on all days`,
      ],
    ),
  ],
})

/** What a fraud rule would have found on past days. It stores nothing, and its address has all that it needs. */
export const fraudSimulationPage: Page = {
  path: '/accounts/:account/fraud-rules/:rule/simulate',
  section: 'Rules',
  query: ['version', 'from', 'to', 'affiliate_id', 'terms'],
  async render(visit) {
    const { query } = visit
    const rule = ruleOf(visit)
    const { account, versions } = await readKnown(visit)
    const days = lastDays(visit)
    const terms = chosenTerms(visit, versions)
    const [latest] = versions
    const name = latest?.terms.name ?? 'The rule that you typed'
    const input = {
      rule,
      from: query.from ?? days.from,
      to: query.to ?? days.to,
      affiliate_id: query.affiliate_id,
      ...(terms !== undefined && { version: terms }),
    }
    const { output } = checkShape(terms, account.vertical)
    const body = (
      <>
        <p class="lead">
          {latest ? (
            <AccountLink at={['fraud-rules', rule]} children={<Name text={name} />} />
          ) : (
            name
          )}
          :{' '}
          {query.terms
            ? 'the cases that the terms that you typed would have opened'
            : 'the cases that it would have opened if it had run after each day'}
          . Nothing is stored.
        </p>
        <Filters
          fields={[
            query.terms ? { name: 'terms', type: 'hidden' } : versionField(versions),
            { name: 'from', label: 'First day', type: 'date', value: input.from },
            { name: 'to', label: 'Last day', type: 'date', value: input.to },
            { name: 'affiliate_id' },
          ]}
        />
        {output && (
          <details>
            <summary>These terms in words</summary>
            <RuleInWords terms={output} />
          </details>
        )}
        <DeferredPart />
      </>
    )
    return {
      title: 'What the rule would have found',
      body,
      computeDeferred: () => computeBackTest(visit, input),
    }
  },
}

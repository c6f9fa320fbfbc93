import { getAccount } from '../../accounts/accounts.ts'
import { disableFraudRule, getFraudRule } from '../../fraud/operations/fraud-rules.ts'
import { kindNamed } from '../../fraud/words.ts'
import { calling } from '../../pages/calling.ts'
import { dayBefore, type Page, useVisit, type Visit } from '../../pages/page.ts'
import { Data, dayWords, isolated } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ConfirmForm } from '../../pages/parts/forms.tsx'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Versions } from '../plans/version-form.tsx'
import {
  type FraudVersion,
  neededFor,
  putRule,
  RuleInWords,
  readAffiliates,
  ruleEditing,
  ruleForm,
} from './fraud-rule-form.tsx'

type RuleWithVersions = AnswerOf<typeof getFraudRule>

const readRule = ({ api, account, params: { rule = '' } }: Visit) =>
  Promise.all([api.call(getFraudRule, { account, rule }), api.call(getAccount, { account })])

/** Says which version applies today, or from when on one does. */
function stateWords({ in_force, disabled, effective_from }: RuleWithVersions): string {
  const day = dayWords(effective_from)
  if (in_force === null) return `It begins on ${day}`
  return disabled ? `It is disabled since ${day}` : `Version ${in_force} is in force since ${day}`
}

/** Renders the form that disables the rule, if the member may and it is not over. */
const End = ({ rule }: { rule: RuleWithVersions }, visit = useVisit()) => {
  const needs = neededFor(rule.versions)
  const isOver = rule.disabled && rule.versions[0]?.version === rule.in_force
  if (isOver || !isAtLeast(visit.member.role, needs)) return null
  return (
    <ConfirmForm change="disable" submit="Disable the rule" name={rule.rule} needs={needs}>
      <p>From today on it finds nothing. What it found before stays.</p>
    </ConfirmForm>
  )
}

/** Renders the form of the next version, which begins as the latest one. */
async function renderForm(visit: Visit) {
  const [[rule, account], affiliates] = await Promise.all([readRule(visit), readAffiliates(visit)])
  const kind = kindNamed(rule.kind)
  const { versions } = rule
  const { disabled: _, ...terms }: Partial<FraudVersion['terms']> = versions[0]?.terms ?? {}
  const form =
    kind &&
    ruleForm({
      ...{ visit, kind, account, affiliates, versions, rule: rule.rule },
      needed: neededFor(rule.versions),
      initial: { ...terms, effective_from: dayBefore(visit.today, 0) },
    })
  return {
    title: 'Next version of the rule',
    body: (
      <>
        <p class="lead">
          <Data text={rule.name} />. A version never changes. The next one applies in its place from
          its first day on{rule.disabled && ', and enables the rule again'}.{' '}
          <AccountLink at={['fraud-rules', rule.rule]} children="Back to the rule" />
        </p>
        {form?.body}
      </>
    ),
    computeDeferred: form?.computeDeferred,
  }
}

/** A fraud rule: its versions in words, and the form of the next one. */
export const fraudRulePage: Page = {
  path: '/accounts/:account/fraud-rules/:rule',
  section: 'Rules',
  query: ['edit'],
  ...ruleEditing,
  changes: {
    put: putRule,
    disable: {
      ...calling(disableFraudRule, 'The rule is disabled from today on.'),
      confirm: ({ params }) => params.rule ?? '',
    },
  },
  async render(visit) {
    if (visit.query.edit || visit.typed || visit.refused?.change === 'put') return renderForm(visit)
    const [rule] = await readRule(visit)
    const { versions } = rule
    const kind = kindNamed(rule.kind)
    const needed = neededFor(rule.versions)
    const isEditor = isAtLeast(visit.member.role, needed)
    const body = (
      <>
        <p class="lead">{stateWords(rule)}.</p>
        <p class="quick">
          {isEditor && (
            <AccountLink
              at={['fraud-rules', rule.rule]}
              query={{ edit: 'next' }}
              children="Write the next version"
            />
          )}
          <AccountLink
            at={['fraud-rules', rule.rule, 'simulate']}
            query={{ version: versions[0] && `${versions[0].version}` }}
            children="What it would have found"
          />
          <AccountLink at={['fraud-rules']} children="All rules" />
        </p>
        <h2>What it does</h2>
        <Versions
          versions={versions.map((one, i) => ({
            ...one,
            isReplaced: versions
              .slice(0, i)
              .some(({ effective_from }) => effective_from <= one.effective_from),
          }))}
          inForce={rule.in_force}
          inWords={({ terms }, before) => <RuleInWords terms={terms} before={before?.terms} />}
        />
        {kind && (
          <p class="note">
            <strong>It sees:</strong> {kind.sees} <strong>It cannot see:</strong> {kind.cannotSee}
          </p>
        )}
        {!isEditor && <p class="note">Only the role {needed} can change this rule.</p>}
        <End rule={rule} />
      </>
    )
    return { title: isolated(rule.name), body }
  },
}

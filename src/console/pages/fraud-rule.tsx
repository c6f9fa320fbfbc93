import { getAccount } from '../../admin/accounts.ts'
import {
  disableFraudRule,
  getFraudRule,
  listFraudRuleVersions,
  withdrawFraudRuleVersion,
} from '../../admin/fraud-rules.ts'
import { isAtLeast } from '../../auth/roles.ts'
import { DAY_MS } from '../../durations.ts'
import { kindNamed } from '../../fraud/words.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { calling } from '../calling.ts'
import { dayBefore, type Page, useVisit, type Visit } from '../page.ts'
import { Data, dayWords, isolated, Pager } from '../parts/data.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { ConfirmForm } from '../parts/forms.tsx'
import {
  type FraudVersion,
  neededFor,
  putRule,
  RuleInWords,
  readAffiliates,
  ruleEditing,
  ruleForm,
} from '../parts/fraud-rule-form.tsx'
import { Versions } from '../parts/version-form.tsx'

/** The number of versions that are shown. */
const SHOWN = 5

type RuleWithVersions = AnswerOf<typeof getFraudRule>

const readRule = ({ api, account, params: { rule = '' }, query: { cursor } }: Visit) =>
  Promise.all([
    api.call(getFraudRule, { account, rule }),
    api.call(listFraudRuleVersions, { account, rule, per_page: SHOWN, cursor }),
    api.call(getAccount, { account }),
  ])

/** Says which version applies today, or from when on one does. */
function stateWords({ in_force, disabled, versions }: RuleWithVersions): string {
  const kept = versions.filter(({ withdrawn_at }) => withdrawn_at === null)
  const current = kept.find(({ version }) => version === in_force)
  if (current) {
    const since = dayWords(current.effective_from)
    return disabled
      ? `It is disabled since ${since}`
      : `Version ${current.version} is in force since ${since}`
  }
  const first = kept.map((one) => one.effective_from).sort()[0]
  return first ? `It begins on ${dayWords(first)}` : 'All versions are withdrawn'
}

/** Renders the forms that disable the rule and withdraw a version, if the member may and there is one. */
const Ends = ({ rule, day }: { rule: RuleWithVersions; day: string }, visit = useVisit()) => {
  const needs = neededFor(rule.versions)
  if (!isAtLeast(visit.member.role, needs)) return null
  const kept = rule.versions.filter(({ withdrawn_at }) => withdrawn_at === null)
  const open = kept.filter(({ effective_from }) => effective_from >= day)
  const isOver = rule.disabled && open.every(({ disabled }) => disabled)
  return (
    <>
      {kept.length > 0 && !isOver && (
        <ConfirmForm change="disable" submit="Disable the rule" name={rule.rule} needs={needs}>
          <p>From today on it finds nothing. What it found before stays.</p>
        </ConfirmForm>
      )}
      {open.length > 0 && (
        <ConfirmForm
          change="withdraw"
          submit="Withdraw a version"
          name={rule.rule}
          needs={needs}
          fields={[
            {
              name: 'version',
              options: open.map(({ version, effective_from }) => [
                `${version}`,
                `Version ${version}, from ${dayWords(effective_from)}`,
              ]),
            },
          ]}
        >
          <p>Only a version that begins today or later can be withdrawn.</p>
        </ConfirmForm>
      )}
    </>
  )
}

/** Returns the first day of the next version: today, unless a version begins then or later. */
function nextDay(versions: RuleWithVersions['versions'], today: string): string {
  const kept = versions.filter(({ withdrawn_at }) => withdrawn_at === null)
  const last = kept
    .map(({ effective_from }) => effective_from)
    .sort()
    .at(-1)
  if (last === undefined || last < today) return today
  return new Date(Date.parse(last) + DAY_MS).toISOString().slice(0, 10)
}

/** Renders the form of the next version, which begins as the latest one. */
async function renderForm(visit: Visit) {
  const [[rule, { data: versions }, account], affiliates] = await Promise.all([
    readRule(visit),
    readAffiliates(visit),
  ])
  const kind = kindNamed(rule.kind)
  const latest = versions.find(({ withdrawn_at }) => withdrawn_at === null) ?? versions[0]
  const { disabled: _, ...terms }: Partial<FraudVersion['terms']> = latest?.terms ?? {}
  const form =
    kind &&
    ruleForm({
      ...{ visit, kind, account, affiliates, versions, rule: rule.rule },
      needed: neededFor(rule.versions),
      initial: { ...terms, effective_from: nextDay(rule.versions, dayBefore(visit.today, 0)) },
    })
  return {
    title: 'Next version of the rule',
    body: (
      <>
        <p class="lead">
          <Data text={rule.name} />. A version never changes. The next one applies from its first
          day on{rule.disabled && ', and enables the rule again'}.{' '}
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
  query: ['cursor', 'edit'],
  ...ruleEditing,
  changes: {
    put: putRule,
    disable: {
      ...calling(disableFraudRule, 'The rule is disabled from today on.'),
      confirm: ({ params }) => params.rule ?? '',
    },
    withdraw: {
      ...calling(withdrawFraudRuleVersion, 'The version is withdrawn.'),
      confirm: ({ params }) => params.rule ?? '',
    },
  },
  async render(visit) {
    if (visit.query.edit || visit.typed || visit.refused?.change === 'put') return renderForm(visit)
    const [rule, { data: versions, meta }] = await readRule(visit)
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
          versions={versions}
          inForce={rule.in_force}
          inWords={({ terms }, before) => <RuleInWords terms={terms} before={before?.terms} />}
        />
        <Pager meta={meta} />
        {kind && (
          <p class="note">
            <strong>It sees:</strong> {kind.sees} <strong>It cannot see:</strong> {kind.cannotSee}
          </p>
        )}
        {!isEditor && <p class="note">Only the role {needed} can change this rule.</p>}
        <Ends rule={rule} day={dayBefore(visit.today, 0)} />
      </>
    )
    return { title: isolated(rule.name), body }
  },
}

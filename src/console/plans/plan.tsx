import { getPlan, withdrawPlanVersion } from '../../commission/operations/plans.ts'
import { accountPath, type Page, type Visit, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Data, isolated } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { FoldedForm } from '../../pages/parts/forms.tsx'
import { mayBeShown } from '../../platform/auth/roles.ts'
import { versionWords } from '../affiliates/affiliate-forms.tsx'
import { canManage } from '../books/sums.ts'
import { redrawVersion } from './form/draft.ts'
import { nextFirstDay } from './form/templates.ts'
import { PlanEditor, putVersion, readEditorData } from './plan-editor.tsx'
import { InWords } from './plan-words.tsx'
import { Versions } from './version-form.tsx'

/** Reads the plan with its versions. */
const readPlan = ({ api, account, params: { plan = '' } }: Visit) =>
  api.call(getPlan, { account, plan })

/** Renders the editor of the next version, which begins as the latest one. */
async function renderEditor(visit: Visit) {
  const [plan, data] = await Promise.all([readPlan(visit), readEditorData(visit)])
  const { versions } = plan
  const inForce = versions.filter(({ withdrawn_at }) => withdrawn_at === null)
  const latest = inForce[0] ?? versions[0]
  const { period = 'month' } = latest?.terms ?? {}
  const effective_from = nextFirstDay(period, visit.today, latest?.effective_from)
  return {
    title: `Next version of ${isolated(plan.name)}`,
    body: (
      <>
        <p class="lead">
          A version never changes. The next one applies from its first day on.{' '}
          <AccountLink at={['plans', plan.plan]} children="Back to the plan" />
        </p>
        <PlanEditor
          data={data}
          versions={versions}
          initial={{ ...latest?.terms, effective_from }}
        />
      </>
    ),
  }
}

/** A plan: its versions side by side, and the editor of the next one. */
export const planPage: Page = {
  path: '/accounts/:account/plans/:plan',
  shows: 'affiliate',
  section: 'Plans',
  query: ['edit'],
  redraw: redrawVersion,
  changes: {
    put: putVersion,
    withdraw: {
      ...calling(withdrawPlanVersion, 'The version is withdrawn.'),
    },
  },
  async render(visit) {
    const mayWrite = mayBeShown(visit.member, 'account')
    if (mayWrite && (visit.query.edit || visit.typed || visit.refused?.change === 'put')) {
      return renderEditor(visit)
    }
    const plan = await readPlan(visit)
    const { versions } = plan
    const body = (
      <>
        <p class="lead">
          <Data text={plan.plan} />
          {` · ${versionWords(plan)}`}
        </p>
        <p class="quick">
          {canManage(visit) && (
            <a
              class="button"
              href={`${withQuery(accountPath(visit.account, 'plans'), { plan: plan.plan })}#assign`}
            >
              Assign it to affiliates
            </a>
          )}
          {mayWrite && (
            <AccountLink
              at={['plans', plan.plan]}
              query={{ edit: 'next' }}
              children="Write the next version"
            />
          )}
          <AccountLink at={['statements']} query={{ plan: plan.plan }} children="Statements" />
        </p>
        <h2>What it pays</h2>
        <Versions
          versions={versions}
          inForce={plan.in_force}
          inWords={({ terms }, before) => <InWords terms={terms} before={before?.terms} />}
        />
        <FoldedForm
          change="withdraw"
          submit="Withdraw a version"
          isDanger
          fields={[
            {
              name: 'version',
              options: versions.map(({ version }) => [`${version}`, `${version}`]),
            },
          ]}
        >
          <p>Only a version that was never in force can be withdrawn.</p>
        </FoldedForm>
      </>
    )
    return { title: isolated(plan.name), body }
  },
}

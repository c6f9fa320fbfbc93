import { parseField } from '../form.ts'
import { apiPath, type Change, type Visit } from '../page.ts'
import { Data } from './data.tsx'
import { AccountLink, Members } from './fields.tsx'
import { ChangeForm } from './forms.tsx'

// The form of a version of a plan.

/** What `PUT …/plans/{plan}` returns. */
interface Stored {
  readonly plan: string
  readonly version: number
  readonly outcome: 'created' | 'unchanged'
  readonly warnings: readonly object[]
}

/** The template plans, which are files of `/assets`. */
const TEMPLATES = ['cpa', 'hybrid', 'ib-per-lot', 'master-ib', 'prop-challenge', 'revenue-share']

/** The change that stores a version of a plan: that of the path or, if the path has none, that of the form. */
export const putVersion: Change = {
  done: '',
  request: (values, { account, params }) => ({
    method: 'PUT',
    path: apiPath(account, 'plans', params.plan ?? values('plan')),
    body: parseField('terms', values('terms')),
  }),
  show(answer, visit) {
    const { plan, version, outcome, warnings } = answer as Stored
    return (
      <>
        <p>
          Version {version} of{' '}
          <AccountLink visit={visit} at={['plans', plan]} children={<Data text={plan} />} /> is{' '}
          {outcome}.
        </p>
        {warnings.map((warning) => (
          <p>
            <Members object={warning} />
          </p>
        ))}
      </>
    )
  },
}

/** Renders the form of a version. A script copies a template into it. */
export const VersionForm = ({ visit, terms }: { visit: Visit; terms: string }) => (
  <ChangeForm
    visit={visit}
    change="put"
    submit="Store this version"
    fields={[
      ...(visit.params.plan ? [] : [{ name: 'plan', label: 'Id of the plan', required: true }]),
      {
        name: 'terms',
        label: 'Terms as JSON',
        type: 'area',
        hint: 'A version never changes. It applies from effective_from on.',
        value: terms,
        required: true,
      },
    ]}
  >
    <p class="quick">
      Templates:
      {TEMPLATES.map((name) => (
        <a href={`/assets/plan-${name}.json`} data-copy-to="put-terms">
          {name}
        </a>
      ))}
    </p>
  </ChangeForm>
)

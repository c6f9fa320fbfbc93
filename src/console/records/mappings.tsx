import { listAttention } from '../../accounts/attention.ts'
import { definitionFields } from '../../accounts/definition-fields.ts'
import {
  dropEventDefinition,
  listEventDefinitions,
  putEventDefinition,
} from '../../accounts/events.ts'
import { getStatusMap, putStatusMap } from '../../accounts/status-map.ts'
import { nullIfConflict } from '../../pages/api-errors.ts'
import { type Change, type Page, useVisit, type Values, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Data, EmptyState, isolated, visible } from '../../pages/parts/data.tsx'
import { ChangeForm, Field, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { SchemaFields } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'
import { STATUSES } from '../../platform/directory/status-maps.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

/** An event definition as the API shows it. */
type Definition = AnswerOf<typeof listEventDefinitions>['data'][number]

const { product: _, ...simple } = definitionFields

/** Returns the product lines of a definition, one `Value=product line` on each line of text. */
const productsOf = (product: Definition['product']) =>
  Object.entries(product?.map ?? {})
    .map(([value, line]) => `${value}=${line}`)
    .join('\n')

const linesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))

/** Returns the product line of each value; a line without `=` has the product line ''. */
function readProducts(text: string): Record<string, string> {
  const pairs = linesOf(text).map((line) => {
    const at = line.lastIndexOf('=')
    return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}

/** Defines an event, or replaces its definition. */
const definitionChange: Change = {
  ...calling(putEventDefinition, 'The definition is saved.', (values) => {
    const [field, map] = [values('field'), values('map')]
    return {
      ...((field !== '' || map !== '') && { product: { field, map: readProducts(map) } }),
    }
  }),
  next: (_, { path }) => path,
}

/** Renders the form of an event definition; empty if there is none yet. */
const DefinitionForm = ({ one }: { one: Definition | undefined }) => (
  <ChangeForm
    change="define"
    submit="Save the definition"
    fields={[
      {
        name: 'field',
        label: 'Field of the product line',
        pointer: '/product/field',
        value: one?.product?.field,
        hint: 'The name of the field, as the brand writes it. Leave it empty if there is none.',
      },
      {
        name: 'map',
        label: 'Product lines',
        type: 'area',
        pointer: '/product/map',
        value: productsOf(one?.product ?? null),
        hint: 'One value in a line with its product line, such as “Live Casino=casino”.',
      },
    ]}
  >
    {one ? (
      <input type="hidden" name="eventname" value={one.eventname} />
    ) : (
      <Field change="define" name="eventname" label="Event" required />
    )}
    <SchemaFields change="define" schemas={simple} values={{ ...one }} sendsAll />
  </ChangeForm>
)

// The form of a map from words of a partner to their meanings.

/** Returns the words of a form with their meanings. A word without a meaning is left out. */
function readWords(values: Values): Record<string, string> {
  const words = new Map<string, string>()
  for (let i = 0; values(`word${i}`) !== ''; i++) {
    const means = values(`means${i}`)
    if (means !== '') words.set(values(`word${i}`).replaceAll('\r\n', '\n'), means)
  }
  const [word, means] = [values('word'), values('means')]
  // A word without a meaning, or a meaning without a word, is an error of the API.
  if (word !== '' || means !== '') words.set(word, means)
  return Object.fromEntries(words)
}

const MEANINGS: readonly Option[] = [
  ['', 'no meaning'],
  ...STATUSES.map((one): Option => [one, one]),
]

/** Renders a field for the meaning of each status, those without a meaning first, and for another one. */
const Statuses = (props: {
  mapping: Readonly<Record<string, string>>
  unmapped: readonly string[]
}) => {
  const { mapping, unmapped } = props
  const words = [...unmapped.map((word) => [word, ''] as const), ...Object.entries(mapping)]
  return (
    <>
      <h2>Transaction statuses</h2>
      <p>
        Choose what each status of the partner means. A transaction whose status has no meaning
        earns nothing. The four meanings are statuses, too, and need no entry.
      </p>
      {unmapped.length > 0 && (
        <p class="notice bad">
          {unmapped.length === 1
            ? 'A status of recent transactions has no meaning.'
            : `${unmapped.length} statuses of recent transactions have no meaning.`}
        </p>
      )}
      <ChangeForm change="statuses" submit="Save the statuses">
        <div class="words">
          {words.map(([word, means], i) => (
            <>
              <input type="hidden" name={`word${i}`} value={word} />
              <Field
                change="statuses"
                options={MEANINGS}
                name={`means${i}`}
                label={visible(word)}
                value={means}
                pointer={`/${word.replaceAll('~', '~0').replaceAll('/', '~1')}`}
              />
            </>
          ))}
          <Field change="statuses" name="word" label="Another word" />
          <Field change="statuses" options={MEANINGS} name="means" label="Its meaning" />
        </div>
      </ChangeForm>
    </>
  )
}

const Definitions = ({ rows }: { rows: readonly Definition[] }, visit = useVisit()) => {
  const one = rows.find(({ eventname }) => eventname === visit.query.eventname)
  return (
    <>
      <h2>Event definitions</h2>
      <p>How each event of the brand is read: what identifies it, and which members are numbers.</p>
      <Table
        caption="Event definitions"
        rows={rows}
        columns={{
          Event: ({ eventname }) => (
            <a href={withQuery(visit.path, { eventname })}>
              <Data text={eventname} />
            </a>
          ),
          Granularity: 'granularity',
          'Event id': 'eventid',
          KPIs: ({ kpis }) => <Data text={kpis.join(', ')} />,
          Currency: 'currency',
          'Product lines': ({ product }) => (
            <Data text={productsOf(product).replaceAll('\n', ', ')} />
          ),
        }}
        empty={
          <EmptyState title="No event is defined yet.">
            <p>Define the events that the brand sends, such as a daily total for each player.</p>
          </EmptyState>
        }
      />
      <h2>{one ? `Change ${isolated(one.eventname)}` : 'Define an event'}</h2>
      <DefinitionForm one={one} />
      {one && (
        <FoldedForm change="drop" submit="Delete the definition" isDanger>
          <p>The event is then read without a definition.</p>
        </FoldedForm>
      )}
    </>
  )
}

/** What the words and events of an account mean. */
export const mappingsPage: Page = {
  path: '/accounts/:account/mappings',
  shows: 'account',
  section: 'Account',
  query: ['eventname'],
  changes: {
    statuses: calling(putStatusMap, 'The meanings are saved.', (values) => ({
      status: readWords(values),
    })),
    define: definitionChange,
    drop: {
      ...calling(dropEventDefinition, 'The definition is deleted.'),
      next: (_, { path }) => path,
    },
  },
  async render(visit) {
    const { api, account } = visit
    const [definitions, { data: attention }, { status }] = await Promise.all([
      api.call(listEventDefinitions, { account }).catch(nullIfConflict),
      api.call(listAttention, { account }),
      api.call(getStatusMap, { account }),
    ])
    const unmapped = attention.find(({ code }) => code === 'unmapped_statuses')
    const body = (
      <>
        <AccountTabs here="Mappings" />
        {definitions ? (
          <Definitions rows={definitions.data} />
        ) : (
          <Statuses mapping={status} unmapped={unmapped?.names ?? []} />
        )}
      </>
    )
    return { title: 'Mappings', body }
  },
}

import { definitionFields } from '../../admin/definition-fields.ts'
import { type listEventDefinitions, putEventDefinition } from '../../admin/events.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Change, Values, Visit } from '../page.ts'
import { DEFINITION_WORDS } from './field-words.ts'
import { ChangeForm, Field } from './forms.tsx'
import { changedMembers } from './schema.ts'
import { SchemaFields } from './schema-fields.tsx'

/** An event definition as the API shows it. */
export type Definition = AnswerOf<typeof listEventDefinitions>['data'][number]

const { granularity, eventid, currency, outflow, status_member } = definitionFields
const simple = { granularity, eventid, currency, outflow, status_member }

/** Returns the product lines of a definition, one `Value=product line` on each line of text. */
export const productsOf = (product: Definition['product']) =>
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

function definitionOf(values: Values) {
  const [field, map] = [values('field'), values('map')]
  return {
    ...changedMembers(simple, values),
    kpis: linesOf(values('kpis')),
    ...((field !== '' || map !== '') && { product: { field, map: readProducts(map) } }),
  }
}

/** Defines an event, or replaces its definition. */
export const definitionChange: Change = {
  done: 'The definition is saved.',
  next: (_, { path }) => path,
  perform: (values, { api, account }) =>
    api.call(putEventDefinition, {
      account,
      eventname: values('eventname'),
      ...definitionOf(values),
    }),
}

/** Renders the form of an event definition; empty if there is none yet. */
export function DefinitionForm({ visit, one }: { visit: Visit; one: Definition | undefined }) {
  const shared = { visit, change: 'define' }
  return (
    <ChangeForm {...shared} submit="Save the definition">
      {one ? (
        <input type="hidden" name="eventname" value={one.eventname} />
      ) : (
        <Field {...shared} name="eventname" label="Event" required />
      )}
      <SchemaFields
        {...shared}
        schemas={simple}
        words={DEFINITION_WORDS}
        values={{ ...one }}
        sendsAll
      />
      <div class="members short">
        <Field
          {...shared}
          name="kpis"
          label="KPIs"
          type="area"
          value={one?.kpis.join('\n')}
          hint="The names of further amounts as the brand writes them, one in a line. “Value” always is one."
        />
        <Field
          {...shared}
          name="field"
          label="Field of the product line"
          pointer="/product/field"
          value={one?.product?.field}
          hint="The name of the field, as the brand writes it. Leave it empty if there is none."
        />
        <Field
          {...shared}
          name="map"
          label="Product lines"
          type="area"
          pointer="/product/map"
          value={productsOf(one?.product ?? null)}
          hint="One value in a line with its product line, such as “Live Casino=casino”."
        />
      </div>
    </ChangeForm>
  )
}

import type { ColumnFile } from '../csv-columns.ts'

import { visible } from './data.tsx'
import { Field } from './forms.tsx'

interface KeptFileProps<Name extends string> {
  /** The name of the form. */
  readonly change: string
  readonly file: ColumnFile<Name>
  /** What members call the columns. */
  readonly titles: Readonly<Record<Name, string>>
}

/** Renders the rows of a file that was sent, hidden, with a choice for each column whose heading is not known. */
export function KeptFile<Name extends string>(props: KeptFileProps<Name>) {
  const { change, file, titles } = props
  const { text, others, unnamed, positions } = file
  const isMissing = unnamed.some((name) => !positions.has(name)) && file.fault !== null
  return (
    <>
      <input type="hidden" name="csv" value={text} />
      {others.length > 0 && unnamed.length > 0 && (
        <details open={isMissing || others.some(({ chosen }) => chosen)}>
          <summary>
            Columns with other headings: {others.map(({ heading }) => visible(heading)).join(', ')}
          </summary>
          {others.map(({ field, heading, chosen }) => (
            <Field
              change={change}
              name={field}
              label={`Column ${visible(heading)}`}
              value={chosen}
              options={[['', 'Leave out'], ...unnamed.map((one) => [one, titles[one]] as const)]}
            />
          ))}
        </details>
      )}
    </>
  )
}

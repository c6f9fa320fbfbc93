import { type ColumnFile, mappedName } from '../csv-columns.ts'
import type { Visit } from '../page.ts'
import { visible } from './data.tsx'
import { Field, type Option } from './forms.tsx'

interface ColumnChoicesProps<Name extends string> {
  readonly visit: Visit
  /** The name of the form. */
  readonly change: string
  readonly file: ColumnFile<Name>
  /** What members call the columns. */
  readonly titles: Readonly<Record<Name, string>>
}

/** Renders a choice for each column that no title of the file names. */
export function ColumnChoices<Name extends string>(props: ColumnChoicesProps<Name>) {
  const { visit, change, file, titles } = props
  const { header, unnamed, required, positions } = file
  const columns = header.map((title, i): Option => [`${i}`, visible(title) || `Column ${i + 1}`])
  if (header.length === 0) return null
  return (
    <>
      {unnamed.map((name) => (
        <Field
          visit={visit}
          change={change}
          name={mappedName(name)}
          label={`Column with the ${titles[name].toLowerCase()}`}
          value={`${positions.get(name) ?? ''}`}
          options={[['', required.includes(name) ? 'choose a column' : 'none'], ...columns]}
        />
      ))}
    </>
  )
}

import { type ColumnFile, mappedName, NO_COLUMN } from '../csv-columns.ts'
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
  /** Whether also those can be chosen that titles of the file name. */
  readonly hasAll?: boolean
}

/** Renders a choice for each column that no title of the file names, or for all. */
export function ColumnChoices<Name extends string>(props: ColumnChoicesProps<Name>) {
  const { visit, change, file, titles, hasAll } = props
  const { header, unnamed, required, positions } = file
  const columns = header.filter(Boolean).map((title): Option => [title, visible(title)])
  const names = hasAll ? (Object.keys(titles) as Name[]) : unnamed
  const none = (name: Name) => (unnamed.includes(name) ? '' : NO_COLUMN)
  if (header.length === 0) return null
  return (
    <>
      {names.map((name) => (
        <Field
          visit={visit}
          change={change}
          name={mappedName(name)}
          label={`Column with the ${titles[name].toLowerCase()}`}
          value={header[positions.get(name) ?? -1] ?? none(name)}
          options={[[none(name), required.includes(name) ? 'choose a column' : 'none'], ...columns]}
        />
      ))}
    </>
  )
}

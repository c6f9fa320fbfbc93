import * as v from 'valibot'

/** The documentation of a field. */
interface Documentation<Example> {
  readonly description: string
  readonly examples?: readonly Example[]
}

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/**
 * Returns the documentation of a field, from which JSON Schemas and pages are generated; undefined in a
 * bundle for production, which needs none. wrangler and `bench/build.ts` write the value of `NODE_ENV`
 * here. esbuild then drops the calls with their texts, as long as this function has no rest parameter.
 */
export function documentation<Example>(
  description: string,
  example?: Example,
): Documentation<Example> | undefined {
  if (process.env.NODE_ENV === 'production') return undefined
  return { description, ...(example !== undefined && { examples: [example] }) }
}

/** Returns a field with its documentation, which validation skips; in production the field itself. */
export function describeField<S extends v.GenericSchema>(
  field: S,
  documentation: Documentation<v.InferInput<S>> | undefined,
): S {
  if (process.env.NODE_ENV === 'production' || documentation === undefined) return field
  const pipe = 'pipe' in field && Array.isArray(field.pipe) ? field.pipe : [field]
  return { ...field, pipe: [...pipe, v.metadata({ ...documentation })] }
}

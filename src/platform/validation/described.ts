import * as v from 'valibot'

// What is told about values, from which OpenAPI, the reference and the types of answers are made.

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/**
 * Returns what is told about operations: their words, and the schemas that only words use. A bundle for production
 * has nothing of it: esbuild drops the function. Of other constants it keeps what calls make, because it does not
 * know that functions of other files have no effects.
 */
export function described<T>(make: () => T): T {
  if (process.env.NODE_ENV === 'production') return undefined as never
  return make()
}

/** Gives a schema the name that it has in OpenAPI. Where it is a part of others, they refer to it. */
export function named<const S extends v.GenericSchema>(component: string, schema: S): S {
  return { ...schema, component }
}

/** Describes an object of answers by its members. OpenAPI has it under this name. */
export function component<const E extends v.ObjectEntries>(
  name: string,
  entries: () => E,
): v.ObjectSchema<E, undefined> {
  if (process.env.NODE_ENV === 'production') return undefined as never
  return named(name, v.object(entries()))
}

/** Describes an object that has more members than another, or describes some of its members anew. */
export const withMembers = <const E extends v.ObjectEntries, const M extends v.ObjectEntries>(
  object: v.ObjectSchema<E, undefined>,
  more: M,
) => v.object<Omit<E, keyof M> & M>({ ...object.entries, ...more })

type Present<E extends v.ObjectEntries> = {
  readonly [N in keyof E]: E[N] extends v.OptionalSchema<infer S, undefined> ? S : E[N]
}

/** Describes an answer that has all members of a body, also those that may be left out there. */
export const answered = <const E extends v.ObjectEntries>(
  body: E,
): v.ObjectSchema<Present<E>, undefined> => {
  const present = Object.entries<v.GenericSchema & { wrapped?: v.GenericSchema }>(body).map(
    ([name, schema]) => [name, schema.type === 'optional' ? schema.wrapped : schema],
  )
  return v.object(Object.fromEntries(present))
}

/** Refers to a schema that OpenAPI has without operations, by its name. */
export const referred = <T>(component: string) =>
  named(
    component,
    v.custom<T>((value) => value !== undefined, 'type object'),
  )

/** Describes a list that is answered as a whole. */
export const listOf = <const I extends v.GenericSchema>(item: I) =>
  v.object({ data: v.array(item) })

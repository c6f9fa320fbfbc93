import * as v from 'valibot'
import { ROLES } from './roles.ts'

const accessRoles = v.pipe(
  v.string(),
  v.parseJson(),
  v.record(v.string(), v.picklist(ROLES)),
  v.transform(
    (roles) => new Map(Object.entries(roles).map(([name, role]) => [name.toLowerCase(), role])),
  ),
)

/** Reads the role of each group, e-mail address or service token in ACCESS_ROLES, by its name in lower case. */
export const parseAccessRoles = (json: string) => v.safeParse(accessRoles, json)

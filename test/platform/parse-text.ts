import { measureJson } from '../../src/platform/http/body-size.ts'
import { parseJson } from '../../src/platform/http/json.ts'

/** Parses a JSON text as the service parses a body. */
export const parseText = (text: string): unknown =>
  parseJson(text, measureJson([new TextEncoder().encode(text)]).mayBeInexact)

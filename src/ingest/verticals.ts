import { igaming } from './brand/igaming.ts'
import type { Resource } from './resource/resource.ts'
import { forex } from './trading/forex.ts'
import { propTrading } from './trading/prop-trading.ts'

const VERTICALS = [propTrading, forex, igaming]

/** Returns the resources of a vertical; none if the vertical is unknown. */
export function resourcesOf(name: string): readonly Resource[] {
  return VERTICALS.find(({ vertical }) => vertical === name)?.resources ?? []
}

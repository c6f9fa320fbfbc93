/** A part of a measure and the step at which it is paid. */
export interface Part {
  readonly from: string
  readonly part: string
  readonly rate: string
}

/** A line on the wire, without its id (§13). */
export interface LineJson {
  readonly rule: string
  readonly version: number
  readonly kind: 'once' | 'share' | 'unit' | 'override'
  readonly scope: string
  readonly base: string | null
  readonly units: string | null
  readonly measure: string | null
  readonly step: string | readonly Part[] | null
  readonly rate: string | null
  readonly amount: string
  readonly carried_in: string
  readonly carried_out: string
  readonly capped: string
  readonly recouped: string
  readonly deficit: string
  /** `base` is before the fence; `base` of the line is after it. */
  readonly fence: {
    readonly base: string
    readonly paid_back: string
    readonly fenced: string
  } | null
  readonly fx: readonly {
    readonly currency: string
    readonly amount: string
    readonly converted: string
  }[]
}

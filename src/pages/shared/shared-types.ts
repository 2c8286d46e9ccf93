// What the pages of a shared collection show.

/** A collection without costs, notes and owner. */
export interface SharedView {
  name: string
  description: string
  visibility: 'private' | 'unlisted' | 'public'
  items_count: number
  worth: { currencies: { currency: string; value: number }[]; without_value: number }
  sets: { name: string; owned: number; of: number; percent: number | null }[]
  items: {
    name: string
    label: string | null
    quantity: number
    /** address; null without a picture */
    picture: string | null
    value: { currency: string; amount: number } | null
  }[]
}

/** The worth of a collection by day, oldest first, in one currency. */
export interface SharedDaysView {
  name: string
  visibility: SharedView['visibility']
  currency: string | null
  days: { day: string; value: number }[]
}

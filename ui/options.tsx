// The options of a select box.

/** @param selected the chosen value, if the select box does not have it */
export function Options({ of, selected }: { of: readonly { value: string; text: string }[]; selected?: string }) {
  return of.map(({ value, text }) => (
    <option key={value} value={value} selected={selected === undefined ? undefined : value === selected}>
      {text}
    </option>
  ))
}

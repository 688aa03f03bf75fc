// For the console.
import React from 'react'

export const scene = {
  title: 'Panel',
  component: function Panel({ name }: { name: string }) {
    return <p>Hello {name}</p>
  },
}

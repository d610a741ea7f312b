"""From the faces of photos to who is who: vectors of faces, search among them, and clusters."""

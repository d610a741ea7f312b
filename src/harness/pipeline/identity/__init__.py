"""Who a face is: from found faces to vectors that can be compared, searched and clustered."""

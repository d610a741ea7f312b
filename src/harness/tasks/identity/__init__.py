"""Does a runner find their photos? The task of identity, on the photos and predictions of the task of photos."""
